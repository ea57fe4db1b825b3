"""What a new version of a spec changes, and how much each change disturbs."""

import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from supervisor.core.spec.changes import CLASSES, compare, forbidden
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.section import Effect, Section
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from tests.supervisor.core.snapshots import NOON
from tests.supervisor.core.spec.spec_documents import REMOVED, changed, created, specs

ROOT = Path(__file__).parents[4]
HOT, SUPERVISOR, TASKS = Effect.HOT, Effect.RESTART_SUPERVISOR, Effect.RESTART_TASKS
IO, TUNING, DATA = "/spec/ioConfig", "/spec/tuningConfig", "/spec/dataSchema"
IO_FIELDS = sorted(KafkaIoConfig.model_fields)
SASL = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "reader",
}


def spec(document: object = None) -> SupervisorSpec:
    return read_spec(document or created()).spec


@pytest.mark.parametrize(
    ("pointer", "value", "effect"),
    [
        (f"{IO}/taskDuration", "PT2M", HOT),
        (f"{IO}/replicas", 2, HOT),
        (f"{IO}/stopTaskCount", 1, HOT),
        (f"{IO}/completionTimeout", "PT1H", HOT),
        (f"{IO}/period", "PT10S", HOT),
        (f"{IO}/startDelay", "PT10S", HOT),
        (f"{IO}/useEarliestOffset", False, HOT),
        ("/context", {"team": "a"}, HOT),
        ("/suspended", True, SUPERVISOR),
        (f"{IO}/taskCount", 3, TASKS),
        (f"{DATA}/granularitySpec/segmentGranularity", "DAY", TASKS),
        (
            f"{DATA}/granularitySpec/segmentGranularity",
            {"type": "period", "period": "PT1H", "timeZone": "Asia/Kolkata"},
            TASKS,
        ),
        (f"{DATA}/timestampSpec/column", "time", TASKS),
        (f"{DATA}/dimensionsSpec/dimensions", ["user"], TASKS),
        (f"{DATA}/dimensionsSpec/useSchemaDiscovery", True, TASKS),
        (f"{DATA}/dimensionsSpec/includeAllDimensions", True, TASKS),
        (f"{TUNING}/maxRowsPerSegment", 1_000, TASKS),
        (f"{TUNING}/targetSegmentBytes", 2**20, TASKS),
        (f"{TUNING}/unfitValues", "quarantine", TASKS),
        (f"{TUNING}/indexSpec/zstdLevel", 9, TASKS),
        (f"{TUNING}/maxTotalRows", 1_000, HOT),
        (f"{TUNING}/intermediateHandoffPeriod", "PT10M", HOT),
        (f"{TUNING}/batchTarget", "PT1S", TASKS),
        (f"{IO}/consumerProperties/bootstrap.servers", "other:9092", TASKS),
    ],
)
def test_each_field_has_its_class(pointer: str, value: object, effect: Effect) -> None:
    changes = compare(spec(), spec(changed(pointer, value)))

    assert {c.effect for c in changes.fields} == {effect}
    assert changes.effect is effect
    assert changes.restarts is (effect is not HOT)
    assert all(c.field.startswith(pointer) or c.field in pointer for c in changes.fields)


def test_a_change_tells_both_values_as_the_user_writes_them() -> None:
    [change] = compare(spec(), spec(changed(f"{IO}/taskDuration", "PT5M"))).fields

    assert (change.field, change.old, change.new) == (f"{IO}/taskDuration", "PT60S", "PT300S")


@pytest.mark.parametrize(
    ("bound", "effect"),
    [("earlyMessageRejectionPeriod", TASKS), ("lateMessageRejectionPeriod", HOT)],
)
def test_task_duration_restarts_tasks_that_throw_away_what_is_later(
    bound: str, effect: Effect
) -> None:
    """Goal: nobody goes by an hour that has become four, and throws current rows away."""
    before = changed(f"{IO}/{bound}", "PT10M")
    found = compare(spec(before), spec(changed(f"{IO}/taskDuration", "PT4H", before)))

    assert [(c.field, c.effect) for c in found.fields] == [(f"{IO}/taskDuration", effect)]


def test_the_strongest_effect_counts() -> None:
    several = changed(f"{IO}/taskCount", 3, changed(f"{IO}/replicas", 2))

    assert compare(spec(), spec(several)).effect is TASKS


def test_an_equal_spec_changes_nothing() -> None:
    found = compare(spec(), spec())

    assert (found.fields, found.effect, found.restarts) == ((), None, False)


def test_a_property_without_effect_on_the_client_is_hot() -> None:
    """Goal: the least disturbance; what counts is the client that a task gets."""
    idle = changed(f"{IO}/consumerProperties/socket.timeout.ms", 1_000)

    assert compare(spec(), spec(idle)).effect is HOT


def test_secrets_are_told_as_references() -> None:
    """Goal: no answer and no log shows a secret."""
    document = created()
    for name, value in SASL.items():
        document = changed(f"{IO}/consumerProperties/{name}", value, document)
    variables = {"sasl.password": "TIDEGATE_SECRET_KAFKA"}
    provider = {"type": "environment", "variables": variables}
    named = changed(f"{IO}/consumerProperties/druid.dynamic.config.provider", provider, document)

    new_values = [c.new for c in compare(spec(), spec(named)).fields]

    assert provider in new_values
    assert not [value for value in new_values if "password" in str(value) and value != provider]


def test_every_field_of_a_spec_is_classed_on_purpose() -> None:
    """Goal: a field that is new has to be thought of; without a class it would restart tasks."""
    assert _paths(SupervisorSpec) - set(CLASSES) == {"/type", "/id"}


def _paths(model: type[BaseModel]) -> set[str]:
    """Fields of the envelope and of ioConfig; the other sections have a class as a whole."""
    paths = set()
    for field in model.model_fields.values():
        name = str(field.alias)
        at = f"/spec/{name}" if _inner(field.annotation) else f"/{name}"
        if name == "ioConfig":
            [inner] = _inner(field.annotation)
            paths |= {f"{at}/{f.alias}" for f in inner.model_fields.values()}
        else:
            paths.add(at)
    return paths


def _inner(annotation: object) -> list[type[BaseModel]]:
    kinds = (annotation, *get_args(annotation))
    return [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]


def test_a_null_that_one_of_two_contexts_lacks_is_a_change() -> None:
    """Goal: what makes a new version is told; a property test found that this was not."""
    old = read_spec(created()).spec
    found = compare(old, old.model_copy(update={"context": {"tag": None}}))
    assert [(c.field, c.old, c.new) for c in found.fields] == [("/context", {}, {"tag": None})]


@settings(max_examples=20, deadline=None)
@given(old=specs(), new=specs(), fields=st.sets(st.sampled_from(IO_FIELDS)))
def test_what_is_hot_asks_the_same_of_tasks(
    old: SupervisorSpec, new: SupervisorSpec, fields: set[str]
) -> None:
    """Goal: no running task goes on under a spec that would have it do something else.

    Tasks are told until when rows count by when their range was opened.
    """
    others = [
        new.model_copy(update={"id": old.id}),
        old.model_copy(update={"io_config": _with(old.io_config, new.io_config, *fields)}),
    ]
    for name, section in (("io_config", KafkaIoConfig), ("tuning_config", TuningConfig)):
        theirs, ours = getattr(new, name), getattr(old, name)
        each = (_with(ours, theirs, field) for field in section.model_fields)
        others += [old.model_copy(update={name: one}) for one in each]

    for other in others:
        found = compare(old, other)
        assert (found.effect is None) == (old == other)
        if found.needs_other_tasks is None:
            assert ingest_spec(old, NOON) == ingest_spec(other, NOON)
            assert old.io_config.stream == other.io_config.stream


def _with(section: Section, other: Section, *fields: str) -> Section:
    """Return a section with these fields of another one."""
    return section.model_copy(update={field: getattr(other, field) for field in fields})


@pytest.mark.parametrize(
    ("pointer", "value", "message"),
    [
        (f"{IO}/topic", "other", "cannot change from topic 'samples'"),
        (f"{DATA}/dataSource", "other", "cannot change from 'samples'"),
    ],
)
def test_topic_and_table_cannot_change(pointer: str, value: str, message: str) -> None:
    """Source: H5; Druid's validateSpecUpdateTo."""
    [error] = forbidden(spec(), spec(changed(pointer, value)))

    assert error.pointer == pointer
    assert message in error.message
    assert "another id" in error.hint


def test_a_topic_and_a_pattern_cannot_be_exchanged() -> None:
    pattern = changed(f"{IO}/topicPattern", "samples", changed(f"{IO}/topic", REMOVED))

    [there] = forbidden(spec(), spec(pattern))
    [back] = forbidden(spec(pattern), spec())

    assert (there.pointer, back.pointer) == (f"{IO}/topicPattern", f"{IO}/topic")
    assert "topic 'samples'" in there.message
    assert "topicPattern 'samples'" in back.message


def test_a_pattern_is_answered_by_get_as_druid_does_and_may_be_posted_again() -> None:
    """Source: Druid's operator settings; `stream` is the pattern then."""
    read = spec(changed(f"{IO}/topicPattern", "samples-.*", changed(f"{IO}/topic", REMOVED)))

    answered = read.normalised()["ioConfig"]

    assert isinstance(answered, dict)
    assert (answered["topic"], answered["topicPattern"]) == (None, "samples-.*")
    assert answered["stream"] == "samples-.*"
    assert spec(read.normalised()) == read


def test_the_page_of_the_spec_names_what_is_hot() -> None:
    page = (ROOT / "docs/reference/spec.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith("| `hot` |")]
    hot = {pointer.rpartition("/")[2] for pointer, effect in CLASSES.items() if effect is HOT}

    assert set(re.findall(r"`(\w+)`", row)) - {"hot"} == hot
