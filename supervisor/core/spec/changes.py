"""Comparison of two versions of a spec: the changed fields, and the effect of each change.

    hot                  nothing that runs is touched; the supervisor uses the new value at once
    restart-supervisor   the supervisor as a whole stops or starts; ranges hand off and publish
    restart-tasks        running ranges hand off and publish; tasks with the new spec go on there

A field without a declared effect restarts tasks: this costs a handoff, but is always correct.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import JsonValue

from supervisor.core.spec.section import Declaration, Effect, inner_of, read_fields
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.kafka_properties import client_of
from supervisor.core.spec.spec import SECTIONS, SupervisorSpec
from supervisor.core.values.errors import FieldError, SpecUnreadable
from supervisor.core.values.field_types import pointer_part

TASK_COUNT = "/spec/ioConfig/taskCount"
"""A new layout hands every group off, but only if it assigns partitions differently."""
CONSUMER = "/spec/ioConfig/consumerProperties"
"""Restarts tasks only if the properties describe another Kafka client."""
TASK_DURATION = "/spec/ioConfig/taskDuration"
"""Restarts tasks if early rows are thrown away, because the task's bound depends on the duration.
"""


def _classes(model: Declaration, at: str) -> Iterator[tuple[str, Effect]]:
    for name, field in read_fields(model).items():
        within = f"{at}/spec/{name}" if name in SECTIONS and not at else f"{at}/{name}"
        yield from ((within, each) for each in field.metadata if isinstance(each, Effect))
        inner = inner_of(field)
        if inner is not None and not inner.listed and not inner.by_type:
            yield from _classes(inner.models[0], within)


CLASSES: Mapping[str, Effect] = MappingProxyType(dict(_classes(SupervisorSpec, "")))
"""JSON pointer -> effect that its section declares; the longest pointer to a field counts.

Source: Druid's classes of fields; that replicas and taskDuration are hot is ours.
"""


@dataclass(frozen=True)
class Change:
    """One changed field, with its old and new value as in the document that GET answers."""

    field: str
    """JSON pointer into the nested form of a spec."""
    old: JsonValue
    new: JsonValue
    effect: Effect


@dataclass(frozen=True)
class Changes:
    """Every changed field, sorted by pointer; no value is a secret: specs hold references only."""

    fields: tuple[Change, ...] = ()

    @property
    def effect(self) -> Effect | None:
        """The strongest effect; None if nothing differs."""
        order = list(Effect)
        return max((c.effect for c in self.fields), key=order.index, default=None)

    @property
    def restarts(self) -> bool:
        """Whether the change stops or hands off something that runs."""
        return self.effect not in {None, Effect.HOT}

    @property
    def needs_other_tasks(self) -> str | None:
        """The first changed field for which tasks have to restart; None: they can go on.

        taskCount is left to the comparison of layouts: more groups than partitions change nothing.
        """
        field_names = (
            c.field
            for c in self.fields
            if c.effect is Effect.RESTART_TASKS and c.field != TASK_COUNT
        )
        return next(field_names, None)


NO_CHANGES = Changes()
"""The changes of a first version, or of a version equal to the one before."""


def compare(old: SupervisorSpec, new: SupervisorSpec) -> Changes:
    """Return the changes between two versions of one supervisor's spec."""
    if old == new:
        return NO_CHANGES
    same_client = client_of(old.io_config.consumer_properties) == client_of(
        new.io_config.consumer_properties
    )
    changes = []
    for field, before, after in _differing(_document(old), _document(new), ""):
        effect = _effect(field)
        if same_client and field.startswith(CONSUMER):
            effect = Effect.HOT
        if field == TASK_DURATION and new.io_config.early_message_rejection_period is not None:
            effect = Effect.RESTART_TASKS
        changes.append(Change(field, before, after, effect))
    return Changes(tuple(changes))


def replaces(old: SpecUnreadable) -> Changes:
    """Return the changes after a version that cannot be read: the whole spec counts as changed."""
    by = f"Tidegate {old.release}" if old.release else "another release"
    read = f"version {old.version}, which only {by} can read"
    return Changes((Change("/spec", read, "this spec", Effect.RESTART_TASKS),))


def forbidden_after(old: SpecUnreadable, new: SupervisorSpec) -> list[FieldError]:
    """Return the forbidden changes after a version that cannot be read in full.

    If the table or the topics of the old version are not known, they count as changed.
    """
    facts, will = old.facts, new.io_config
    bounds = will.model_dump(mode="json").get("boundedStreamConfig")
    pairs = [
        ("/spec/dataSchema/dataSource", facts.data_source, new.data_source),
        ("/spec/ioConfig/topic", facts.topic, will.topic),
        ("/spec/ioConfig/topicPattern", facts.topic_pattern, will.topic_pattern),
        ("/spec/ioConfig/boundedStreamConfig", facts.bounds, bounds),
    ]
    if facts.topic is None and facts.topic_pattern is None:
        pairs.append(("/spec/ioConfig", None, will.stream))
    return [
        FieldError(
            pointer,
            f"cannot change from {before!r}, which version {old.version} has, while offsets are "
            "stored; that version cannot be read here",
            "give the spec another id, or terminate this supervisor first",
        )
        for pointer, before, after in pairs
        if before != after
    ]


def forbidden(old: SupervisorSpec, new: SupervisorSpec) -> list[FieldError]:
    """Return the changes that are refused because stored offsets and segments depend on the field.

    Source: Druid's validateSpecUpdateTo; faults.md H5.
    """
    was, will = old.io_config, new.io_config
    pairs: list[tuple[str, str, str]] = []
    if (was.topic, was.topic_pattern) != (will.topic, will.topic_pattern):
        field = "topic" if will.topic is not None else "topicPattern"
        kind = "topic" if was.topic is not None else "topicPattern"
        pairs.append((f"/spec/ioConfig/{field}", f"{kind} {was.stream!r}", "topics"))
    if old.data_source != new.data_source:
        pairs.append(("/spec/dataSchema/dataSource", repr(old.data_source), "tables"))
    errors = [
        FieldError(
            pointer,
            f"cannot change from {value} while offsets are stored",
            f"give the spec for other {what} another id, or terminate this supervisor first",
        )
        for pointer, value, what in pairs
    ]
    return errors or _forbidden_bounds(was, will)


def _forbidden_bounds(was: KafkaIoConfig, will: KafkaIoConfig) -> list[FieldError]:
    """Refuse changes of bounds, except later ends and new partitions."""
    place = "/spec/ioConfig/boundedStreamConfig"
    other = "give the spec another id, or terminate this supervisor first"
    old, new = was.bounded_stream_config, will.bounded_stream_config
    if old is None or new is None:
        if old is new:
            return []
        message = "an unbounded supervisor cannot become bounded"
        if old is not None:
            message = "a bounded supervisor cannot become unbounded"
        return [FieldError(place, f"{message} while offsets are stored", other)]
    errors = []
    for partition, end in sorted(old.end_sequence_numbers.items()):
        start = old.start_sequence_numbers[partition]
        if new.start_sequence_numbers.get(partition) != start:
            at = f"{place}/startSequenceNumbers/{partition}"
            errors.append(
                FieldError(at, f"cannot change from {start} while offsets are stored", other)
            )
        elif new.end_sequence_numbers[partition] < end:
            at = f"{place}/endSequenceNumbers/{partition}"
            message = f"cannot be lower than {end}, which may have been read"
            errors.append(FieldError(at, message, "raise it or leave it; or " + other))
    return errors


def _document(spec: SupervisorSpec) -> dict[str, JsonValue]:
    """Return a spec in the nested form that users write."""
    whole = spec.model_dump(mode="json")
    sections = {k: whole.pop(k) for k in ("dataSchema", "ioConfig", "tuningConfig")}
    return {**whole, "spec": sections}


def _differing(
    old: JsonValue, new: JsonValue, at: str
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    if isinstance(old, dict) and isinstance(new, dict):
        one_has = old.keys() ^ new.keys()
        if any(old.get(name) is None and new.get(name) is None for name in one_has):
            yield at, old, new  # the whole object: a missing null inside it is no difference
            return
        for name in sorted(old.keys() | new.keys()):
            yield from _differing(old.get(name), new.get(name), f"{at}/{pointer_part(name)}")
    elif old != new or type(old) is not type(new):
        yield at, old, new


def _effect(field: str) -> Effect:
    while field:
        if field in CLASSES:
            return CLASSES[field]
        field = field.rpartition("/")[0]
    return Effect.RESTART_TASKS
