"""Translation of Druid's older `parser` into timestampSpec, dimensionsSpec and inputFormat.

    dataSchema.parser.parseSpec ─ timestampSpec, dimensionsSpec ─► dataSchema
    the rest of parser and parseSpec ────────── one inputFormat ─► ioConfig

Source: Druid 33.0.0 takes both forms (InputRowParser, ParseSpec), later ones the newer form alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.sections.protobuf import FILE_IN_SPEC, NO_FILES
from supervisor.core.values.field_types import nearest, pointer_part, shown

_FORMATS: Mapping[str, Mapping[str, str]] = {
    "string": {name: name for name in ("json", "csv", "tsv", "regex")},
    "avro_stream": dict.fromkeys(("avro", "timeAndDims"), "avro_stream"),
    "protobuf": dict.fromkeys(("json", "timeAndDims"), "protobuf"),
}
"""Type of a parser -> format of its parseSpec -> input format."""
_OF_SCHEMA = ("timestampSpec", "dimensionsSpec")
_STAND_INS: Mapping[str, object] = {
    "timestampSpec": {"column": "timestamp"},
    "dimensionsSpec": {},
    "inputFormat": {"type": "json"},
}
"""Stand-ins for refused values, so that the rest of the document is still checked."""


@dataclass(frozen=True)
class UnwrappedSections:
    """The two sections without a parser, and the places of their parts in the document."""

    data_schema: dict[str, object]
    io_config: dict[str, object]
    places: Mapping[str, str]
    """Pointer in the newer form -> pointer in the document, for error messages."""


def without_parser(
    notes: SpecProblems,
    data_schema: tuple[dict[str, object], str],
    io_config: tuple[dict[str, object], str],
) -> UnwrappedSections:
    """Return both sections in the form without a parser; each argument is (section, pointer)."""
    schema, at = dict(data_schema[0]), data_schema[1]
    io, io_at = dict(io_config[0]), io_config[1]
    parser = schema.pop("parser")
    within = f"{at}/parser"
    for name, section, pointer in (
        *((name, schema, at) for name in _OF_SCHEMA),
        ("inputFormat", io, io_at),
    ):
        if section.pop(name, None) is not None:
            message = f"{name} is given, and a parser as well"
            notes.refuse(f"{pointer}/{name}", message, f"keep {name}: parser is Druid's older form")
    parse = parser.get("parseSpec") if isinstance(parser, Mapping) else None
    if not isinstance(parser, Mapping) or not isinstance(parse, Mapping):
        wrong = f"{within}/parseSpec" if isinstance(parser, Mapping) else within
        hint = "or use timestampSpec, dimensionsSpec and the ioConfig's inputFormat"
        notes.refuse(wrong, "must be an object", hint)
        stand_ins = {name: _STAND_INS[name] for name in _OF_SCHEMA}
        return UnwrappedSections(
            schema | stand_ins, io | {"inputFormat": _STAND_INS["inputFormat"]}, {}
        )
    notes.warn(
        f"{within} is Druid's older form: it is read, and shown, as timestampSpec, dimensionsSpec "
        "and the ioConfig's inputFormat"
    )
    form, places = _input_format(notes, parser, parse, within)
    own = {f"{at}/{name}": f"{within}/parseSpec/{name}" for name in _OF_SCHEMA}
    return UnwrappedSections(
        schema | {name: parse[name] for name in _OF_SCHEMA if name in parse},
        io | {"inputFormat": form},
        own | {f"{io_at}/inputFormat{part}": place for part, place in places.items()},
    )


def _input_format(
    notes: SpecProblems, parser: Mapping[str, object], parse: Mapping[str, object], within: str
) -> tuple[object, dict[str, str]]:
    """Return the input format, and a mapping: name of a part -> its pointer in the document."""
    kind = _kind(notes, parser, parse, within)
    if kind is None:
        return _STAND_INS["inputFormat"], {}
    rest = {name: v for name, v in parse.items() if name not in {"format", *_OF_SCHEMA}}
    input_format: dict[str, object] = {"type": kind} | rest
    places = {"": f"{within}/parseSpec", "/type": f"{within}/parseSpec/format"}
    for name, value in parser.items():
        place = f"{within}/{pointer_part(name)}"
        if name in {"type", "parseSpec"} or value is None:
            continue
        if name == "encoding" and kind not in {"avro_stream", "protobuf"}:
            if str(value).lower().replace("-", "") != "utf8":
                notes.refuse(place, f"{shown(value)}: records are read as UTF-8", "leave it out")
        elif kind == "protobuf" and name == "descriptor":
            notes.refuse(place, NO_FILES, f"use protoBytesDecoder; {FILE_IN_SPEC}")
            return _STAND_INS["inputFormat"], {}
        else:
            input_format[name] = value
            places[f"/{pointer_part(name)}"] = place
    return input_format, places


def _kind(
    notes: SpecProblems, parser: Mapping[str, object], parse: Mapping[str, object], within: str
) -> str | None:
    """Return the type of the input format; None: there is none, and the reason is noted."""
    kind, form = parser.get("type") or "string", parse.get("format")
    if not isinstance(kind, str) or kind not in _FORMATS:
        use = f"use one of {', '.join(_FORMATS)}, or the ioConfig's inputFormat"
        notes.refuse(f"{within}/type", f"parser {shown(kind)} is not built", use)
        return None
    known = _FORMATS[kind]
    if isinstance(form, str) and form in known:
        return known[form]
    place = f"{within}/parseSpec/format"
    close = nearest(form, known) if isinstance(form, str) else None
    hint = f"did you mean {close}?" if close else f"use one of {', '.join(known)}"
    message = "format is required" if form is None else f"{shown(form)} is not built for {kind}"
    notes.refuse(place, message, hint)
    return None
