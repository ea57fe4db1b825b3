"""The parts of a spec that have objects in objects: formats within formats, filters in filters."""

from collections.abc import Mapping
from dataclasses import dataclass

from supervisor.core.spec import druid_fields as tables
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.unsupported import OTHER_FILTERS, OTHER_METRICS
from supervisor.core.values.field_types import nearest, shown


@dataclass(frozen=True)
class _Decoders:
    """Ways to find a schema that are built, and one of Druid's that is not: why, and what to do."""

    built: Mapping[str, tables.Table]
    refused: str
    already_reported: str
    hint: str


NO_FILES = "file is not built: no file or URL that a spec names is ever opened"
FILE_IN_SPEC = (
    'write what it holds into the spec: {"type": "inline", "descriptorString": "..."}, '
    "the text that base64 -w0 FILE prints"
)
_DECODERS = {
    "avroBytesDecoder": _Decoders(
        tables.AVRO_DECODERS,
        "schema_repo",
        "schema_repo is not built",
        "the schemas of a schema repo can be registered or written into the spec",
    ),
    "protoBytesDecoder": _Decoders(
        tables.PROTOBUF_DECODERS,
        "file",
        NO_FILES,
        FILE_IN_SPEC,
    ),
}
_UNBUILT_OF_FILTERS = {
    "extractionFn": "use a transform, and filter by what it makes",
    "alphaNumeric": "use ordering numeric",
}


def collect_format(
    notes: SpecProblems, written: Mapping[str, object], pointer: str, *, within: bool = False
) -> dict[str, object] | None:
    """Return what a format means to us, or None for one that is not ours: its fields are not, too.

    `within`: it is the format of a value or a key.
    """
    kind = written.get("type")
    known = dict(tables.VALUE_FORMATS) | ({} if within else {"kafka": tables.KAFKA_FORMAT})
    if kind is None:
        notes.refuse(f"{pointer}/type", "type is required", f"use one of {', '.join(known)}")
        return None
    if not isinstance(kind, str) or kind not in known:
        told = "not built yet" if str(kind) in tables.OTHER_FORMATS else "not an input format"
        if within and kind == "kafka":
            told = "no format of a value"
        notes.refuse(
            f"{pointer}/type", f"{shown(kind)} is {told}", f"use one of {', '.join(known)}"
        )
        return None
    kept = notes.sift(written, pointer, known[kind])
    if isinstance(flatten := kept.get("flattenSpec"), Mapping):
        kept["flattenSpec"] = _sift_flatten(notes, flatten, f"{pointer}/flattenSpec")
    for name, known_decoders in _DECODERS.items():
        if isinstance(decoder := kept.get(name), Mapping):
            found = _sift_decoder(notes, decoder, f"{pointer}/{name}", known_decoders)
            if found is None:
                return None
            kept[name] = found
    for name in ("valueFormat", "keyFormat"):
        if isinstance(inner := kept.get(name), Mapping):
            found = collect_format(notes, inner, f"{pointer}/{name}", within=True)
            if found is None:
                del kept[name]
            else:
                kept[name] = found
    return kept


def _sift_decoder(
    notes: SpecProblems, written: Mapping[str, object], pointer: str, known: _Decoders
) -> dict[str, object] | None:
    kind = written.get("type")
    if isinstance(kind, str) and kind in known.built:
        return notes.sift(written, pointer, known.built[kind])
    hint = f"use one of {', '.join(known.built)}"
    if kind is None:
        notes.refuse(f"{pointer}/type", "type is required", hint)
    elif kind == known.refused:
        notes.refuse(f"{pointer}/type", known.already_reported, f"{hint}; {known.hint}")
    else:
        notes.refuse(f"{pointer}/type", f"{shown(kind)} is no way to find a schema", hint)
    return None


def _sift_flatten(
    notes: SpecProblems, written: Mapping[str, object], pointer: str
) -> dict[str, object]:
    kept = notes.sift(written, pointer, tables.FLATTEN)
    if isinstance(fields := kept.get("fields"), list):
        looked = [_no_jq(notes, each, f"{pointer}/fields/{n}") for n, each in enumerate(fields)]
        kept["fields"] = notes.sift_each(looked, f"{pointer}/fields", tables.FLATTEN_FIELD)
    return kept


def _no_jq(notes: SpecProblems, field: object, pointer: str) -> object:
    if not isinstance(field, Mapping) or field.get("type") != "jq":
        return field
    told, hint = "jq is not built", "use type path: $.user.id, or $.items[*].id for all of a list"
    notes.refuse(f"{pointer}/type", told, hint)
    return {"type": "root", **{k: v for k, v in field.items() if k == "name"}}  # stands in for it


def collect_transforms(
    notes: SpecProblems, written: Mapping[str, object], pointer: str
) -> dict[str, object]:
    """Return what a transformSpec means to us."""
    kept = notes.sift(written, pointer, tables.TRANSFORMS)
    if isinstance(listed := kept.get("transforms"), list):
        kept["transforms"] = notes.sift_each(listed, f"{pointer}/transforms", tables.TRANSFORM)
    if "filter" in kept:
        kept["filter"] = _sift_filter(notes, kept["filter"], f"{pointer}/filter")
    return kept


def collect_metric(notes: SpecProblems, written: object, pointer: str) -> object:
    """Return what an aggregator means to us; its filter, and the one within it, too."""
    if not isinstance(written, Mapping):
        return written
    kind = written.get("type")
    if not isinstance(kind, str) or kind not in tables.METRICS:
        told, hint = "type is required", f"use one of {', '.join(tables.METRICS)}"
        if isinstance(kind, str) and kind in OTHER_METRICS:
            told, hint = f"{kind} is not built", OTHER_METRICS[kind]
        elif kind is not None:
            close = nearest(str(kind), tables.METRICS)
            told = f"{shown(kind)} is no aggregator"
            hint = f"did you mean {close}?" if close else hint
        notes.refuse(f"{pointer}/type", told, hint)
        return None
    kept = notes.sift(written, pointer, tables.METRICS[kind])
    if "filter" in kept:
        kept["filter"] = _sift_filter(notes, kept["filter"], f"{pointer}/filter")
    if "aggregator" in kept:
        inner = collect_metric(notes, kept["aggregator"], f"{pointer}/aggregator")
        if inner is None:
            return None
        kept["aggregator"] = inner
    return kept


def _sift_filter(notes: SpecProblems, written: object, pointer: str) -> object:
    """Leave out what asks for nothing, all the way down."""
    if isinstance(written, list):
        return [_sift_filter(notes, entry, f"{pointer}/{n}") for n, entry in enumerate(written)]
    if not isinstance(written, Mapping):
        return written
    kind = written.get("type")
    if isinstance(kind, str) and kind in OTHER_FILTERS:
        notes.refuse(pointer, f"filter {kind} is not built", OTHER_FILTERS[kind])
        return {"type": "true"}  # stands in for it, so that the rest is looked at
    kept: dict[str, object] = {}
    for name, value in written.items():
        asks_nothing = value is None or (name == "alphaNumeric" and value is False)
        if asks_nothing or name == "filterTuning":
            continue
        if name in _UNBUILT_OF_FILTERS:
            told = f"{name} is not built yet"
            notes.refuse(f"{pointer}/{name}", told, _UNBUILT_OF_FILTERS[name])
        elif name in {"fields", "field"}:
            kept[name] = _sift_filter(notes, value, f"{pointer}/{name}")
        elif name == "ordering":
            kept[name] = _ordering(value)
        elif name == "dimensions" and isinstance(value, list):
            kept[name] = [_dimension(entry) for entry in value]
        else:
            kept[name] = value
    return kept


def _ordering(written: object) -> object:
    """Return the name of an order of values: Druid takes any case, and writes `{"type": ...}`."""
    if isinstance(written, Mapping) and written.keys() == {"type"}:
        written = written["type"]
    return written.lower() if isinstance(written, str) else written


def _dimension(written: object) -> object:
    """Return the name of a dimension, which Druid writes as an object that renames nothing."""
    if not isinstance(written, Mapping):
        return written
    name = written.get("dimension")
    plain = {"type": "default", "dimension": name, "outputName": name, "outputType": "STRING"}
    says_more = any(value is not None and plain.get(k) != value for k, value in written.items())
    return written if says_more or not isinstance(name, str) else name
