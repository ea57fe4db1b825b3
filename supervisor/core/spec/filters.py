"""Translation of Druid's filters into the form that Tidegate's filter models read."""

from collections.abc import Mapping

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.section import Translate
from supervisor.core.spec.unsupported import OTHER_FILTERS

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
