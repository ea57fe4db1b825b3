"""`boundedStreamConfig`: how it is written, what is refused, what a change of it may be.

Source: Druid 39's BoundedStreamConfig and its tests (apache/druid PR 19372).
"""

import pytest

from supervisor.core.spec.changes import compare, forbidden
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.section import Effect
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.spec.spec_documents import REMOVED, changed, created, errors_of

PLACE = "/spec/ioConfig/boundedStreamConfig"


def bounded(
    start: object, end: object, document: dict[str, object] | None = None
) -> dict[str, object]:
    """The small document with these two maps."""
    found = {"startSequenceNumbers": start, "endSequenceNumbers": end}
    plain = changed("/spec/ioConfig/useEarliestOffset", REMOVED, document or created())
    return changed(PLACE, found, plain)


def spec(start: object, end: object) -> SupervisorSpec:
    return read_spec(bounded(start, end)).spec


@pytest.mark.parametrize(
    "end", [{"0": 500, "1": 600}, {"0": "500", "1": "600"}, {"0": 500, 1: "600"}]
)
def test_offsets_are_numbers_or_texts(end: object) -> None:
    """Source: BoundedStreamConfigTest.testDeserializationWithMixedTypes."""
    read = read_spec(bounded({"0": 0, "1": 1}, end))

    assert read.warnings == ()
    assert read.spec.io_config.starts == {TopicPartition("samples", n): n for n in (0, 1)}
    assert read.spec.io_config.ends == {
        TopicPartition("samples", 0): 500,
        TopicPartition("samples", 1): 600,
    }


def test_get_writes_it_as_druid_does_and_may_be_posted_again() -> None:
    read = spec({"1": "7"}, {"1": 9})
    io_config = read.normalised()["ioConfig"]

    assert isinstance(io_config, dict)
    assert io_config["boundedStreamConfig"] == {
        "startSequenceNumbers": {"1": 7},
        "endSequenceNumbers": {"1": 9},
    }
    assert read_spec(read.normalised()).spec == read
    assert SupervisorSpec.model_validate(read.model_dump(mode="json")) == read


@pytest.mark.parametrize(
    ("start", "end", "place", "message"),
    [
        (None, {"0": 1}, "/startSequenceNumbers", "is required"),
        ({"0": 1}, None, "/endSequenceNumbers", "is required"),
        ({}, {}, "/startSequenceNumbers", "must name a partition"),
        ([0], {"0": 1}, "/startSequenceNumbers", "must be an object"),
        ({"0": 1}, {"1": 2}, "", "partition 0, 1 is in one of"),
        ({"0": 5}, {"0": 4}, "", "partition 0 ends at 4, before its start 5"),
        ({"0": -1}, {"0": 4}, "/startSequenceNumbers", "-1 is not an offset"),
        ({"0": 1.5}, {"0": 4}, "/startSequenceNumbers", "1.5 is not an offset"),
        ({"0": True}, {"0": 4}, "/startSequenceNumbers", "True is not an offset"),
        ({"p": 1}, {"p": 4}, "/startSequenceNumbers", "p is not a partition"),
        ({"0": 1}, {"0": 2**63 - 1}, "/endSequenceNumbers", "is not an offset"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    start: object, end: object, place: str, message: str
) -> None:
    errors = errors_of(bounded(start, end))
    at_place = [e for e in errors if e.pointer == PLACE + place]

    assert at_place, errors
    assert message in at_place[0].message


def test_an_unknown_part_is_refused() -> None:
    document = changed(f"{PLACE}/endSequenceNumber", {}, bounded({"0": 0}, {"0": 1}))

    [error] = errors_of(document)

    assert error.pointer == f"{PLACE}/endSequenceNumber"
    assert "endSequenceNumbers" in error.hint


def test_a_pattern_of_topics_has_no_numbered_partitions() -> None:
    document = changed("/spec/ioConfig/topic", REMOVED, bounded({"0": 0}, {"0": 1}))

    errors = errors_of(changed("/spec/ioConfig/topicPattern", "samples.*", document))

    assert errors[0].pointer == PLACE
    assert "topicPattern" in errors[0].message


def test_use_earliest_offset_has_no_effect_beside_it() -> None:
    document = changed("/spec/ioConfig/useEarliestOffset", True, bounded({"0": 0}, {"0": 1}))

    [warning] = read_spec(document).warnings

    assert "useEarliestOffset has no effect" in warning


@pytest.mark.parametrize(
    ("start", "end"), [({"0": 0}, {"0": 20}), ({"0": 0, "1": 5}, {"0": 10, "1": 9})]
)
def test_a_range_may_grow(start: object, end: object) -> None:
    """Goal: it goes on from the committed offset; what reads now hands off first."""
    old, new = spec({"0": 0}, {"0": 10}), spec(start, end)

    assert forbidden(old, new) == []
    assert compare(old, new).effect is Effect.RESTART_TASKS


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ({"0": 1}, {"0": 10}, "cannot change from 0"),
        ({"0": 0}, {"0": 9}, "cannot be lower than 10"),
        ({"1": 0}, {"1": 10}, "cannot change from 0"),
    ],
)
def test_what_was_asked_for_stays_asked_for(start: object, end: object, message: str) -> None:
    """Goal: no table that silently holds more, or less, than its spec says."""
    [error] = forbidden(spec({"0": 0}, {"0": 10}), spec(start, end))

    assert error.pointer.startswith(PLACE)
    assert message in error.message
    assert "another id" in error.hint


def test_bounded_and_unbounded_are_not_exchanged() -> None:
    plain, some = read_spec(created()).spec, spec({"0": 0}, {"0": 10})

    [there] = forbidden(plain, some)
    [back] = forbidden(some, plain)

    assert "cannot become bounded" in there.message
    assert "cannot become unbounded" in back.message
