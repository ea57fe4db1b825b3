"""From a document to a spec: everything that is wrong with it at once, each with its place.

    document ─ envelope: nested, flat or both ─► sections ─ sift: kept, idle, not built, unknown
             ─► the models of spec_data, spec_io, spec_tuning ─► SupervisorSpec + warnings

The models are strict and know only what means something here; this module knows Druid's rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from supervisor.core.spec import druid_fields as tables
from supervisor.core.spec.nested_fields import collect_format, collect_metric, collect_transforms
from supervisor.core.spec.old_parser import without_parser
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.sections.data_schema import DataSchema
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.kafka_properties import read_properties
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError, InvalidSpec
from supervisor.core.values.field_types import pointer_part, shown
from supervisor.core.values.table_names import ERRORS_SUFFIX, is_errors_table
from tasks.rows.row_plan import is_reserved

_Sections = dict[str, tuple[dict[str, object] | None, str]]
_REQUIRED = {
    "dataSchema": 'give {"dataSource": ..., "timestampSpec": ..., "dimensionsSpec": ...}',
    "ioConfig": 'give {"topic": ..., "consumerProperties": ..., "inputFormat": ...}',
}


@dataclass(frozen=True)
class ReadSpec:
    """A spec, and what its document says that has no effect."""

    spec: SupervisorSpec
    warnings: tuple[str, ...] = ()


def read_spec(document: object) -> ReadSpec:
    """Read a supervisor spec as Druid's clients write it: nested, flat, or as GET answers it.

    Raises:
        InvalidSpec: with one error per problem; a pointer into the document, what is wrong, and
            what to do.

    Source: Druid 33.0.0 accepts these forms; an unknown field, which it ignores, is refused here.
    """
    notes = SpecProblems(document)
    if not isinstance(document, Mapping):
        raise InvalidSpec([FieldError("", "a spec must be an object", '{"type": "kafka", ...}')])
    envelope = notes.sift(document, "", tables.ENVELOPE)
    _check_type(notes, envelope)
    _check_context(notes, envelope.get("context"))
    sections = _without_parser(notes, document, _sections(notes, envelope))
    read: dict[str, object] = {
        "dataSchema": _read_data_schema(notes, *sections["dataSchema"]),
        "ioConfig": _read_io_config(notes, *sections["ioConfig"]),
        "tuningConfig": _read_tuning(notes, *sections["tuningConfig"]),
    }
    # A section that is wrong has been told of; the rest is looked at all the same.
    rest = {k: envelope[k] for k in ("id", "context", "suspended") if k in envelope}
    whole = {k: v for k, v in read.items() if v is not None} | rest
    spec = notes.validate(SupervisorSpec, whole, "", already_reported=frozenset(read))
    _check_table(notes, sections["dataSchema"])
    if spec is None or notes.errors:
        raise InvalidSpec(notes.errors)
    _check_columns(notes, spec.data_schema, sections["dataSchema"][1])
    if notes.errors:
        raise InvalidSpec(notes.errors)
    _warn_of_what_waits(notes, spec)
    return ReadSpec(spec, tuple(notes.warnings))


def _check_table(notes: SpecProblems, schema: tuple[dict[str, object] | None, str]) -> None:
    """Refuse the name of an errors table; here, for a stored spec may have it from before."""
    section, pointer = schema
    name = None if section is None else section.get("dataSource")
    # In any case: readers of the tables, and some file systems, do not tell cases apart.
    if isinstance(name, str) and is_errors_table(name.lower()):
        told = f"{shown(name)}: names that end in {ERRORS_SUFFIX} are those of quarantined records"
        notes.refuse(f"{pointer}/dataSource", told, "choose another name")


def _check_columns(notes: SpecProblems, schema: DataSchema, base: str) -> None:
    """Refuse names of columns that tables have of their own; here, as above."""
    places = {f"{base}/dimensionsSpec/dimensions": schema.dimensions_spec.names}
    places[f"{base}/metricsSpec"] = tuple(metric.name for metric in schema.metrics_spec)
    for pointer, names in places.items():
        for number, name in enumerate(names):
            if is_reserved(name):
                message = f"column {shown(name)} is reserved: tables have such columns of their own"
                notes.refuse(f"{pointer}/{number}", message, "give the column another name")


def _warn_of_what_waits(notes: SpecProblems, spec: SupervisorSpec) -> None:
    """Say which fields are stored and shown, but not acted on yet."""
    default = KafkaIoConfig.model_fields
    if spec.io_config.period != default["period"].default:
        notes.warn(
            "/spec/ioConfig/period is kept and not used: the operator's TIDEGATE_SUPERVISOR_PERIOD "
            "says how often a supervisor is looked at, and events wake it at once"
        )


def _check_type(notes: SpecProblems, envelope: Mapping[str, object]) -> None:
    kind = envelope.get("type")
    if kind is None:
        notes.refuse("/type", "type is required", 'give "type": "kafka"')
    elif kind != "kafka":
        notes.refuse("/type", f"unknown supervisor type {shown(kind)}", "known types: kafka")


def _check_context(notes: SpecProblems, context: object) -> None:
    """Warn of what has no effect, and refuse what would set Spark up."""
    if not isinstance(context, Mapping):
        return
    for name in context:
        if str(name).strip().lower().startswith("spark."):
            notes.refuse(
                f"/context/{pointer_part(str(name))}",
                f"{shown(name)}: Spark is set up by the operator, not by a spec",
                "remove it",
            )
        else:
            notes.warn(f"/context/{pointer_part(str(name))} has no effect here: it is only kept")


def _sections(notes: SpecProblems, envelope: Mapping[str, object]) -> _Sections:
    """Return section -> (its object, its pointer), from the nested form if there is one."""
    inner = envelope.get("spec")
    if inner is None:
        nested = None
    elif isinstance(inner, Mapping):
        nested = notes.sift(inner, "/spec", tables.NESTED)
    else:
        notes.refuse("/spec", "must be an object", 'give {"dataSchema": ..., "ioConfig": ...}')
        return {name: (None, f"/spec/{name}") for name in tables.SECTIONS}
    found: _Sections = {}
    flat = nested is None and any(name in envelope for name in tables.SECTIONS)
    base = "" if flat else "/spec"
    for name in tables.SECTIONS:
        section = (envelope if nested is None else nested).get(name)
        if nested is not None and name in envelope and envelope[name] != section:
            notes.refuse(
                f"/{name}",
                f"differs from /spec/{name}",
                f"change it in /spec/{name} and leave /{name} out",
            )
        found[name] = _section(notes, section, f"{base}/{name}")
    return found


def _without_parser(
    notes: SpecProblems, document: Mapping[str, object], sections: _Sections
) -> _Sections:
    """Return the sections as they are without Druid's older `parser`, if there is one."""
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


def _read_data_schema(
    notes: SpecProblems, section: dict[str, object] | None, pointer: str
) -> DataSchema | None:
    if section is None:
        return None
    _check_metrics(notes, section, pointer)
    kept = notes.sift(section, pointer, tables.DATA_SCHEMA)
    for name, table in (
        ("timestampSpec", tables.TIMESTAMP),
        ("dimensionsSpec", tables.DIMENSIONS),
        ("granularitySpec", tables.GRANULARITY),
    ):
        if isinstance(inner := kept.get(name), Mapping):
            kept[name] = notes.sift(inner, f"{pointer}/{name}", table)
    if isinstance(columns := kept.get("dimensionsSpec"), dict):
        _sift_dimensions(notes, columns, f"{pointer}/dimensionsSpec/dimensions")
    if isinstance(written := kept.get("transformSpec"), Mapping):
        kept["transformSpec"] = collect_transforms(notes, written, f"{pointer}/transformSpec")
    if isinstance(listed := kept.get("metricsSpec"), list):
        sifted = [
            collect_metric(notes, metric, f"{pointer}/metricsSpec/{n}")
            for n, metric in enumerate(listed)
        ]
        kept["metricsSpec"] = sifted
        if None in sifted:  # told of already
            del kept["metricsSpec"]
    return notes.validate(DataSchema, kept, pointer)


def _sift_dimensions(notes: SpecProblems, columns: dict[str, object], pointer: str) -> None:
    listed = columns.get("dimensions")
    if not isinstance(listed, list | tuple):
        return
    sifted: list[object] = []
    for index, entry in enumerate(listed):
        if isinstance(entry, Mapping):
            kind = str(entry.get("type", "string"))
            table = tables.DIMENSION_TYPES.get(kind, tables.NUMBER_DIMENSION)
            sifted.append(notes.sift(entry, f"{pointer}/{index}", table))
        else:
            sifted.append(entry)
    columns["dimensions"] = sifted


def _check_metrics(notes: SpecProblems, section: Mapping[str, object], pointer: str) -> None:
    """Ask for a word on rollup, whose default is Druid's true and our false."""
    metrics = section.get("metricsSpec")
    if not isinstance(metrics, list) or not metrics:
        return
    granularity = section.get("granularitySpec")
    if not isinstance(granularity, Mapping) or granularity.get("rollup") is None:
        notes.refuse(
            f"{pointer}/granularitySpec/rollup",
            "metricsSpec is given, so say rollup true or false",
            "Druid's default is true, here it is false",
        )
    columns = section.get("dimensionsSpec")
    listed = columns.get("dimensions") if isinstance(columns, Mapping) else None
    names = [_name_of(entry) for entry in listed] if isinstance(listed, list) else []
    for index, metric in enumerate(metrics):
        name = _name_of(metric)
        if name is not None and name in names:
            notes.refuse(
                f"{pointer}/metricsSpec/{index}",
                f"Cannot specify a column more than once: [{shown(name)}] seen in dimensions "
                "list, metricsSpec list",
                "give the metric another name",
            )


def _name_of(entry: object) -> object:
    if isinstance(entry, Mapping):
        own = entry.get("name")
        return _name_of(entry["aggregator"]) if "aggregator" in entry and not own else own
    return entry


def _read_io_config(
    notes: SpecProblems, section: dict[str, object] | None, pointer: str
) -> KafkaIoConfig | None:
    if section is None:
        return None
    pattern = section.get("topicPattern")
    if pattern is not None and section.get("stream") == pattern:
        section = {k: v for k, v in section.items() if k != "stream"}  # as Druid writes it again
    kept = notes.sift(section, pointer, tables.IO_CONFIG)
    _check_source(notes, kept, pointer)
    place = f"{pointer}/consumerProperties"
    try:
        read = read_properties(kept.pop("consumerProperties", None), place)
    except InvalidSpec as error:
        for wrong in error.errors:
            notes.refuse(wrong.pointer, wrong.message, wrong.hint)
    else:
        kept["consumerProperties"] = read.properties
        for warning in read.warnings:
            notes.warn(warning)
    told = {"consumerProperties"}
    if isinstance(bounded := kept.get("boundedStreamConfig"), Mapping):
        kept["boundedStreamConfig"] = _sift_bounded(notes, bounded, kept, pointer)
    if isinstance(idle := kept.get("idleConfig"), Mapping):
        kept["idleConfig"] = notes.sift(idle, f"{pointer}/idleConfig", tables.IDLE)
    if isinstance(written := kept.get("inputFormat"), Mapping):
        sifted = collect_format(notes, written, f"{pointer}/inputFormat")
        if sifted is None:
            told.add("inputFormat")
            del kept["inputFormat"]
        else:
            kept["inputFormat"] = sifted
    return notes.validate(KafkaIoConfig, kept, pointer, frozenset(told))


def _sift_bounded(
    notes: SpecProblems, written: Mapping[str, object], kept: Mapping[str, object], pointer: str
) -> dict[str, object]:
    """A range once: of one topic, and from where it says."""
    if "topicPattern" in kept:
        notes.refuse(
            f"{pointer}/boundedStreamConfig",
            "partitions are named by their number, so a topicPattern has none",
            "give the topic",
        )
    if kept.get("useEarliestOffset") is not None:
        notes.warn(
            f"{pointer}/useEarliestOffset has no effect: boundedStreamConfig says where it begins"
        )
    return notes.sift(written, f"{pointer}/boundedStreamConfig", tables.BOUNDED)


def _check_source(notes: SpecProblems, kept: dict[str, object], pointer: str) -> None:
    """Exactly one of topic and topicPattern; where that is wrong, a stand-in lets the rest be."""
    if "topic" in kept and "topicPattern" in kept:
        hint = "keep one of them"
        notes.refuse(f"{pointer}/topicPattern", "topic is given as well", hint)
        del kept["topicPattern"]
    elif "topic" not in kept and "topicPattern" not in kept:
        hint = "name the Kafka topic to read, or give a topicPattern"
        notes.refuse(f"{pointer}/topic", "topic is required", hint)
        kept["topic"] = "missing"


def _read_tuning(
    notes: SpecProblems, section: dict[str, object] | None, pointer: str
) -> TuningConfig | None:
    if section is None:
        return None
    kept = notes.sift(section, pointer, tables.TUNING)
    if isinstance(written := kept.get("indexSpec"), Mapping):
        kept["indexSpec"] = notes.sift(written, f"{pointer}/indexSpec", tables.INDEX)
    read = notes.validate(TuningConfig, kept, pointer)
    if read is not None and read.index_spec.dimension_compression == "lzf":
        notes.warn(f"{pointer}/indexSpec/dimensionCompression: no lzf here, files are zstd")
    return read
