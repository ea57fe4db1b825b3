"""Reset and resetOffsets on Druid's paths: done when they answer, and the answer says what."""

from collections.abc import Mapping

import pytest

from supervisor.core.planning.observed import StreamTrouble
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Agent, Json, World

RESET = f"{SUPERVISORS}/{TOPIC}/reset"
RESET_OFFSETS = f"{SUPERVISORS}/{TOPIC}/resetOffsets"
SEQUENCE_NUMBERS = "partitionSequenceNumberMap"
RECORDS = 10


def body(offsets: Mapping[str, object], **members: object) -> Json:
    """Druid's body."""
    partitions = {"type": "end", "stream": TOPIC, "partitionOffsetMap": dict(offsets)}
    return {"type": "kafka", "partitions": partitions | members}


def sequenced(offsets: Mapping[str, object], **members: object) -> Json:
    """Druid's body, under its name for offsets of any stream."""
    partitions = {"type": "end", "stream": TOPIC, SEQUENCE_NUMBERS: dict(offsets)}
    return {"type": "kafka", "partitions": partitions | members}


def moved(partition: int, start: int | None, to: int, **numbers: int) -> Json:
    """One partition of the answer."""
    return {
        "topic": TOPIC,
        "partition": partition,
        "from": start,
        "to": to,
        "skipped": 0,
        "lost": 0,
        "repeated": 0,
        "skippedRange": run(start, numbers.get("skipped", 0)),
        "lostRange": run(start, numbers.get("lost", 0)),
        "repeatedRange": run(to, numbers.get("repeated", 0)),
        "recreated": False,
    } | numbers


def run(first: int | None, number: int) -> Json | None:
    """The offsets that a number is about."""
    return {"from": first, "to": (first or 0) + number} if number else None


def reading(world: World) -> list[Agent]:
    """Two groups that read a topic of some records."""
    agents = world.start()
    for partition in range(2):
        world.streams.append(TOPIC, partition, RECORDS)
    return agents


def committed(world: World) -> object:
    return world.payload()["committedOffsets"]


def test_reset_answers_as_druid_and_says_what_it_did(world: World) -> None:
    reading(world)

    answer = world.post(RESET)

    assert answer.status_code == 200
    reset = answer.json()
    assert (reset["id"], reset["dryRun"]) == (TOPIC, False)
    assert reset["partitions"] == [moved(0, 0, 0), moved(1, 0, 0)]
    assert {g["generationId"] for g in reset["discarded"]} == {"clicks:1", "clicks:2"}


def test_reset_offsets_moves_the_named_partitions(world: World) -> None:
    agents = reading(world)

    answer = world.post(RESET_OFFSETS, body({"1": 4}))

    assert answer.status_code == 200, answer.text
    assert answer.json()["partitions"] == [moved(1, 0, 4, skipped=4)]
    assert committed(world) == {"0": 0, "1": 4}
    world.settle()
    world.round(agents)
    groups = world.payload()["groups"]
    assert isinstance(groups, list)
    assert {"1": 4} in [group["start"] for group in groups]


@pytest.mark.parametrize("path", [RESET, RESET_OFFSETS])
def test_a_dry_run_changes_nothing(world: World, path: str) -> None:
    reading(world)
    before = world.payload()["groups"]

    answer = world.post(f"{path}?dryRun=true", body({"0": 3}))

    assert answer.json()["dryRun"] is True
    assert answer.json()["discarded"]
    assert world.payload()["groups"] == before
    assert committed(world) == {"0": 0, "1": 0}


@pytest.mark.parametrize("named", [{}, {"partitionOffsetMap": {"0": 3}}])
def test_offsets_may_be_named_as_druid_names_those_of_any_stream(
    world: World, named: dict[str, object]
) -> None:
    """Goal: what Druid's metadata says is taken as it stands; it has both names."""
    reading(world)

    answer = world.post(f"{RESET_OFFSETS}?dryRun=true", sequenced({"0": 3}, **named))

    assert answer.status_code == 200, answer.text
    assert answer.json()["discarded"]


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        (body({"0": 1}) | {"type": "kinesis"}, "/type"),
        ({"type": "kafka"}, "/partitions"),
        (body({"0": 1}, type="start"), "/partitions/type"),
        (body({"0": 1}, stream="other"), "/partitions/stream"),
        (body({}), "/partitions/partitionOffsetMap"),
        (body({"0": 1}, partitionOffsetMap=[1]), "/partitions/partitionOffsetMap"),
        (body({"clicks:0": 1}), "/partitions/partitionOffsetMap/clicks:0"),
        (body({"-1": 1}), "/partitions/partitionOffsetMap/-1"),
        (body({"0": -1}), "/partitions/partitionOffsetMap/0"),
        (body({"0": True}), "/partitions/partitionOffsetMap/0"),
        (body({"0": 2**63}), "/partitions/partitionOffsetMap/0"),
        (body({"0": 1}, partitionSequenceNumberMap={"0": 2}), f"/partitions/{SEQUENCE_NUMBERS}"),
        (body({"0": 1}, partitionSequenceNumberMap=[]), f"/partitions/{SEQUENCE_NUMBERS}"),
        (sequenced({"0": True}), f"/partitions/{SEQUENCE_NUMBERS}/0"),
    ],
)
def test_a_body_that_says_something_else_is_refused_with_its_place(
    world: World, sent: Json, pointer: str
) -> None:
    """Goal: Druid answers a wrong stream with a page of HTML and 500."""
    reading(world)

    answer = world.post(RESET_OFFSETS, sent)

    assert answer.status_code == 400, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert committed(world) == {"0": 0, "1": 0}


@pytest.mark.parametrize(
    ("offsets", "detail"), [({"7": 0}, "it has clicks:0, clicks:1"), ({"0": 11}, "holds 0 to 10")]
)
def test_offsets_that_kafka_does_not_hold_are_refused_with_what_it_holds(
    world: World, offsets: dict[str, object], detail: str
) -> None:
    reading(world)

    answer = world.post(RESET_OFFSETS, body(offsets))

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-offsets")
    assert detail in answer.json()["detail"]


@pytest.mark.parametrize("verb", ["reset", "resetOffsets"])
def test_an_unknown_supervisor_is_told_in_druids_words(world: World, verb: str) -> None:
    answer = world.post(f"{SUPERVISORS}/nobody/{verb}", body({"0": 1}))

    assert answer.status_code == 404
    assert answer.text == "Cannot find any supervisor with id: [nobody]"


def test_without_kafkas_offsets_it_is_a_503_that_may_be_tried_again(world: World) -> None:
    reading(world)
    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer from localhost:9092")

    answer = world.post(RESET)

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["type"] == "/problems/stream-unavailable"
    assert "nothing was reset" in answer.json()["detail"]


def test_without_the_topic_a_reset_is_refused_and_the_state_says_what_to_do(world: World) -> None:
    """Goal: nobody is told to wait for a Kafka that answers.  Source: E6."""
    reading(world)
    before = committed(world)
    world.streams.delete(TOPIC)
    for _ in range(3):
        world.settle()
    now = world.payload()

    refused = world.post(RESET)

    assert (now["detailedState"], now["healthy"]) == ("TOPIC_GONE", False)
    assert f"{TOPIC}:0 stands at 0, {TOPIC}:1 stands at 0" in str(now["why"])
    assert f"`tidegate supervisor reset {TOPIC}`" in str(now["why"])
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/topic-missing")
    assert "make it anew and reset then" in refused.json()["detail"]
    assert committed(world) == before

    world.streams.create(TOPIC, 2, "id-2")
    world.settle()
    assert world.payload()["detailedState"] == "TOPIC_CHANGED"
    assert world.post(RESET).status_code == 200
