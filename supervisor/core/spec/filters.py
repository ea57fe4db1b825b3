"""Filters of a document: translation into the form that the models read, and their bounds.

The bounds are those of a document alone: a stored spec of an earlier release may be beyond them.
"""

from collections.abc import Iterable, Mapping

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.section import Translate
from supervisor.core.spec.unsupported import OTHER_FILTERS

FILTERS_MAX = 5_000
"""Most filters of one spec together, those of metrics and those within others included."""
VALUES_MAX = 50_000
"""Most values that all filters of one spec list together."""
_LISTS = ("values", "intervals", "dimensions")
_UNSUPPORTED = {
    "extractionFn": "use a transform, and filter by what it makes",
    "alphaNumeric": "use ordering numeric",
}


def _translated(notes: SpecProblems, written: object, pointer: str) -> object:
    """Return a filter in Tidegate's form, without members that have no effect; recursive."""
    if isinstance(written, list):
        return [_translated(notes, entry, f"{pointer}/{n}") for n, entry in enumerate(written)]
    if not isinstance(written, Mapping):
        return written
    kind = written.get("type")
    if isinstance(kind, str) and kind in OTHER_FILTERS:
        notes.refuse(pointer, f"filter {kind} is not built", OTHER_FILTERS[kind])
        return {"type": "true"}  # a stand-in, so that the rest is still checked
    kept: dict[str, object] = {}
    for name, value in written.items():
        asks_nothing = value is None or (name == "alphaNumeric" and value is False)
        if asks_nothing or name == "filterTuning":
            continue
        if name in _UNSUPPORTED:
            notes.refuse(f"{pointer}/{name}", f"{name} is not built yet", _UNSUPPORTED[name])
        elif name in {"fields", "field"}:
            kept[name] = _translated(notes, value, f"{pointer}/{name}")
        elif name == "ordering":
            kept[name] = _ordering(value)
        elif name == "dimensions" and isinstance(value, list):
            kept[name] = [_dimension(entry) for entry in value]
        else:
            kept[name] = value
    return kept


FILTER = Translate(_translated)
"""Annotation of a field that holds a filter."""


def refuse_too_many(notes: SpecProblems, filters: Iterable[object], pointer: str) -> bool:
    """Note an error if these filters of one spec are too many together; return whether they are.

    Each of them is compiled when the spec is read, so that their number is the cost of the spec.
    """
    count, values, left = 0, 0, list(filters)
    while left:
        written = left.pop()
        if isinstance(written, Mapping):
            count += 1
            lists = [written, written.get("query")]
            values += sum(_listed(each) for each in lists)
            left.append(written.get("field"))
            left += inner if isinstance(inner := written.get("fields"), list) else []
    kinds = (("filters", count, FILTERS_MAX), ("values in filters", values, VALUES_MAX))
    beyond = [(kind, number, most) for kind, number, most in kinds if number > most]
    for kind, number, most in beyond:
        message = f"transformSpec and metricsSpec have {number:,} {kind} together"
        notes.refuse(pointer, message, f"at most {most:,}")
    return bool(beyond)


def _listed(written: object) -> int:
    found = [written.get(name) for name in _LISTS] if isinstance(written, Mapping) else []
    return sum(len(each) for each in found if isinstance(each, list))


def _ordering(written: object) -> object:
    """Return the name of a sort order, which Druid accepts in any case or as `{"type": ...}`."""
    if isinstance(written, Mapping) and written.keys() == {"type"}:
        written = written["type"]
    return written.lower() if isinstance(written, str) else written


def _dimension(written: object) -> object:
    """Return the name of a dimension that Druid writes as an object, if it renames nothing."""
    if not isinstance(written, Mapping):
        return written
    name = written.get("dimension")
    plain = {"type": "default", "dimension": name, "outputName": name, "outputType": "STRING"}
    says_more = any(value is not None and plain.get(k) != value for k, value in written.items())
    return written if says_more or not isinstance(name, str) else name
