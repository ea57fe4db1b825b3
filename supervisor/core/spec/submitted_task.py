"""Translation of Druid's task `index_kafka` into an equivalent bounded supervisor.

    {"type": "index_kafka", dataSchema, tuningConfig, ioConfig: {start…, end…}}
        ──► {"type": "kafka", "id": the task's, "spec": {…, ioConfig: {topic, boundedStreamConfig}}}

A client can submit such a task and poll it by its id, because the supervisor has the task's id.
Source: Druid's KafkaIndexTask and SeekableStreamIndexTaskIOConfig.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from supervisor.core.values.errors import FieldError, InvalidSpec, NotOffered
from supervisor.core.values.field_types import nearest, shown
from supervisor.core.values.table_names import name_problem

TYPE = "index_kafka"
ID_CHARACTERS_MAX = 128
_START, _END = "startSequenceNumbers", "endSequenceNumbers"
_EARLIEST = "minimumMessageTime"
_SCHEDULING = frozenset({"groupId", "resource", "dataSource", "supervisorId", "generationId"})
"""Members of a task for Druid's scheduler, which have no effect here."""
_IO_OF_TASKS = frozenset({"type", "taskGroupId", "baseSequenceName", "useTransaction"})
"""Members of a task's ioConfig that a supervisor's ioConfig does not have."""
_ENVELOPE = frozenset({"type", "id", "spec", "dataSchema", "tuningConfig", "ioConfig", "context"})
_SEQUENCE = frozenset(
    {
        *("type", "stream", "topic", "partitionSequenceNumberMap", "partitionOffsetMap"),
        "exclusivePartitions",
    }
)


@dataclass(frozen=True)
class _Sequence:
    stream: str
    offsets: dict[str, object]


def bounded_supervisor(
    document: Mapping[str, object], suffix: str
) -> tuple[str, dict[str, object]]:
    """Return the id and the unchecked spec of the supervisor that is equivalent to a task.

    `suffix` is part of the id that is generated for a task without one.

    Raises:
        NotOffered: the task has another type.
        InvalidSpec: a member that a task of this type needs is missing or wrong.
    """
    kind = document.get("type")
    if kind != TYPE:
        raise NotOffered(
            f"tasks of type {shown(kind)} are not run here: {TYPE} with start and end offsets is, "
            "and a stream that goes on is read by a supervisor, POST /druid/indexer/v1/supervisor"
        )
    if unknown := sorted(document.keys() - _ENVELOPE - _SCHEDULING):
        raise InvalidSpec([_unknown(name) for name in unknown])
    nested = document.get("spec")
    sections, at = (nested, "/spec") if isinstance(nested, dict) else (document, "")
    schema, io = _object(sections, "dataSchema", at), _object(sections, "ioConfig", at)
    task_id = _id_of(document, schema, suffix)
    context = document.get("context")
    supervisor_spec: dict[str, object] = {
        "type": "kafka",
        "id": task_id,
        "spec": {
            "dataSchema": schema,
            "ioConfig": _io_config(io, f"{at}/ioConfig"),
            **({"tuningConfig": sections["tuningConfig"]} if sections.get("tuningConfig") else {}),
        },
        **({"context": context} if context else {}),
    }
    return task_id, supervisor_spec


def _unknown(name: str) -> FieldError:
    near = nearest(name, sorted(_ENVELOPE))
    hint = f"did you mean {near}?" if near else "remove it"
    return FieldError(f"/{name}", "is no member of a task", hint)


def _object(document: Mapping[str, object], name: str, at: str) -> dict[str, object]:
    value = document.get(name)
    if not isinstance(value, dict):
        raise InvalidSpec([FieldError(f"{at}/{name}", "must be an object", f"give the {name}")])
    return value


def _id_of(document: Mapping[str, object], schema: Mapping[str, object], suffix: str) -> str:
    given = document.get("id")
    if given is None:
        prefix = f"{TYPE}_{schema.get('dataSource')}"[: ID_CHARACTERS_MAX - len(suffix) - 1]
        return f"{prefix}_{suffix}"
    if not isinstance(given, str) or (problem := name_problem(given)):
        message = "must be a text" if not isinstance(given, str) else problem or ""
        raise InvalidSpec([FieldError("/id", message, "or leave it out: one is made")])
    return given


def _io_config(io: Mapping[str, object], at: str) -> dict[str, object]:
    start, end = _sequence(io, _START, at), _sequence(io, _END, at)
    if start.stream != end.stream:
        message = f"begins in {shown(start.stream)} and ends in {shown(end.stream)}"
        raise InvalidSpec([FieldError(f"{at}/{_END}", message, "name one topic in both")])
    if io.get("maximumMessageTime") is not None:
        message = "has no counterpart in a supervisor"
        hint = "filter by __time in the transformSpec"
        raise InvalidSpec([FieldError(f"{at}/maximumMessageTime", message, hint)])
    left_out = _IO_OF_TASKS | {_START, _END, _EARLIEST, "maximumMessageTime"}
    io_config = {name: value for name, value in io.items() if name not in left_out}
    io_config["topic"] = start.stream
    io_config["boundedStreamConfig"] = {_START: start.offsets, _END: end.offsets}
    if io.get(_EARLIEST) is not None:
        io_config["lateMessageRejectionStartDateTime"] = io[_EARLIEST]
    return io_config


def _sequence(io: Mapping[str, object], name: str, at: str) -> _Sequence:
    where = f"{at}/{name}"
    form = '{"stream": "the topic", "partitionSequenceNumberMap": {"0": 100}}'
    value = io.get(name)
    if not isinstance(value, dict):
        raise InvalidSpec([FieldError(where, "must be an object", f"give {form}")])
    if unknown := sorted(value.keys() - _SEQUENCE):
        raise InvalidSpec([FieldError(f"{where}/{unknown[0]}", "is not known", f"give {form}")])
    if value.get("exclusivePartitions"):
        message = "offsets are inclusive where a range begins"
        hint = "name the first offset to read, without exclusivePartitions"
        raise InvalidSpec([FieldError(f"{where}/exclusivePartitions", message, hint)])
    stream = value.get("stream") or value.get("topic")
    offsets = value.get("partitionSequenceNumberMap") or value.get("partitionOffsetMap")
    if not isinstance(stream, str) or not isinstance(offsets, dict):
        raise InvalidSpec([FieldError(where, "names no topic, or no offsets", f"give {form}")])
    return _Sequence(stream, offsets)
