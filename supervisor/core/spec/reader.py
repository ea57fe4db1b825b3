"""Reading of a spec from a document, with all errors at once, each with its JSON pointer.

    document ─ envelope: nested, flat or both ─► sections ─ sift: read, ignored, refused, unknown
             ─► SupervisorSpec + warnings

The sections declare their names and the rules between them.  This module knows the forms of the
whole document.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from supervisor.core.spec.old_parser import without_parser
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.sections.data_schema import DataSchema
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sift import sift, sift_names
from supervisor.core.spec.spec import HOMES, SECTIONS, Sections, SupervisorSpec
from supervisor.core.values.errors import FieldError, InvalidSpec
from supervisor.core.values.field_types import pointer_part, shown
from tasks.rows.row_plan import is_reserved

_Sections = dict[str, tuple[dict[str, object] | None, str]]
_REQUIRED = {
    "dataSchema": 'give {"dataSource": ..., "timestampSpec": ..., "dimensionsSpec": ...}',
    "ioConfig": 'give {"topic": ..., "consumerProperties": ..., "inputFormat": ...}',
}


@dataclass(frozen=True)
class ReadSpec:
    """A spec, and warnings about fields of its document that have no effect."""

    spec: SupervisorSpec
    warnings: tuple[str, ...] = ()


def read_spec(document: object) -> ReadSpec:
    """Read a supervisor spec in any form of Druid's clients: nested, flat, or both as GET answers.

    Raises:
        InvalidSpec: the document has errors; each with its pointer, a message and a hint.

    Source: Druid 33.0.0 accepts these forms; an unknown field, which it ignores, is refused here.
    """
    notes = SpecProblems(document, HOMES)
    if not isinstance(document, Mapping):
        raise InvalidSpec([FieldError("", "a spec must be an object", '{"type": "kafka", ...}')])
    envelope = sift_names(notes, SupervisorSpec, document, "")
    _check_type(notes, envelope)
    _check_context(notes, envelope.get("context"))
    sections = _without_parser(notes, document, _sections(notes, envelope))
    apart = {"type", "spec", *SECTIONS}
    whole = {name: value for name, value in envelope.items() if name not in apart}
    for name, (written, pointer) in sections.items():
        if written is None:
            notes.drop(pointer)
        else:
            whole[name] = sift(notes, SECTIONS[name], written, pointer)
    places = {name: pointer for name, (_, pointer) in sections.items()}
    spec = notes.validate(SupervisorSpec, whole, places=places)
    if spec is None or notes.errors:
        raise InvalidSpec(notes.errors)
    _check_columns(notes, spec.data_schema, places["dataSchema"])
    if notes.errors:
        raise InvalidSpec(notes.errors)
    _warn_of_no_effect(notes, spec, places["tuningConfig"])
    return ReadSpec(spec, tuple(notes.warnings))


def _check_columns(notes: SpecProblems, schema: DataSchema, base: str) -> None:
    """Refuse names of the tables' own columns; old stored specs may still have such names."""
    places = {f"{base}/dimensionsSpec/dimensions": schema.dimensions_spec.names}
    places[f"{base}/metricsSpec"] = tuple(metric.name for metric in schema.metrics_spec)
    for pointer, names in places.items():
        for number, name in enumerate(names):
            if is_reserved(name):
                message = f"column {shown(name)} is reserved: tables have such columns of their own"
                notes.refuse(f"{pointer}/{number}", message, "give the column another name")


def _warn_of_no_effect(notes: SpecProblems, spec: SupervisorSpec, tuning: str) -> None:
    """Warn of fields that are stored and shown, but have no effect."""
    default = KafkaIoConfig.model_fields
    if spec.io_config.period != default["period"].default:
        notes.warn(
            "/spec/ioConfig/period is kept and not used: the operator's TIDEGATE_SUPERVISOR_PERIOD "
            "says how often a supervisor is looked at, and events wake it at once"
        )
    if spec.tuning_config.index_spec.dimension_compression == "lzf":
        notes.warn(f"{tuning}/indexSpec/dimensionCompression: no lzf here, files are zstd")


def _check_type(notes: SpecProblems, envelope: Mapping[str, object]) -> None:
    kind = envelope.get("type")
    if kind is None:
        notes.refuse("/type", "type is required", 'give "type": "kafka"')
    elif kind != "kafka":
        notes.refuse("/type", f"unknown supervisor type {shown(kind)}", "known types: kafka")


def _check_context(notes: SpecProblems, context: object) -> None:
    """Warn of context entries without effect, and refuse entries that configure Spark."""
    if not isinstance(context, Mapping):
        return
    for name, value in context.items():
        if str(name).strip().lower().startswith("spark."):
            notes.refuse(
                f"/context/{pointer_part(str(name))}",
                f"{shown(name)}: Spark is set up by the operator, not by a spec",
                "remove it",
            )
        elif name != "debug" or not isinstance(value, bool):
            notes.warn(f"/context/{pointer_part(str(name))} has no effect here: it is only kept")


def _sections(notes: SpecProblems, envelope: Mapping[str, object]) -> _Sections:
    """Return name of a section -> (its object, its pointer), from the nested form if present."""
    inner = envelope.get("spec")
    if inner is None:
        nested = None
    elif isinstance(inner, Mapping):
        nested = sift_names(notes, Sections, inner, "/spec")
    else:
        notes.refuse("/spec", "must be an object", 'give {"dataSchema": ..., "ioConfig": ...}')
        return {name: (None, f"/spec/{name}") for name in SECTIONS}
    sections: _Sections = {}
    flat = nested is None and any(name in envelope for name in SECTIONS)
    base = "" if flat else "/spec"
    for name in SECTIONS:
        section = (envelope if nested is None else nested).get(name)
        if nested is not None and name in envelope and envelope[name] != section:
            notes.refuse(
                f"/{name}",
                f"differs from /spec/{name}",
                f"change it in /spec/{name} and leave /{name} out",
            )
        sections[name] = _section(notes, section, f"{base}/{name}")
    return sections


def _without_parser(
    notes: SpecProblems, document: Mapping[str, object], sections: _Sections
) -> _Sections:
    """Return the sections with Druid's older `parser`, if present, translated."""
    (schema, schema_at), (io, io_at) = sections["dataSchema"], sections["ioConfig"]
    if schema is None or schema.get("parser") is None:
        return sections
    moved = without_parser(notes, (schema, schema_at), (io or {}, io_at))
    inner = {"dataSchema": moved.data_schema} | (
        {} if io is None else {"ioConfig": moved.io_config}
    )
    nested = document.get("spec")
    if isinstance(nested, Mapping):
        notes.look_at({**document, "spec": {**nested, **inner}}, moved.places)
    else:
        notes.look_at({**document, **inner}, moved.places)
    own = {name: (inner[name], sections[name][1]) for name in inner}
    return sections | own


def _section(
    notes: SpecProblems, section: object, pointer: str
) -> tuple[dict[str, object] | None, str]:
    name = pointer.rpartition("/")[2]
    if isinstance(section, Mapping):
        return dict(section), pointer
    if section is not None:
        notes.refuse(pointer, "must be an object", _REQUIRED.get(name, ""))
    elif name in _REQUIRED:
        notes.refuse(pointer, f"{name} is required", _REQUIRED[name])
    return ({} if section is None and name not in _REQUIRED else None), pointer
