"""resetToLatestAndBackfill over HTTP: Druid's answer, its refusals, and what is told beside."""

import pytest

from supervisor.core.planning.observed import StreamTrouble
from tests.supervisor.api.routes.supervisors.test_resets import RECORDS, moved, reading
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document, task_ids

PATH = f"{SUPERVISORS}/{TOPIC}/resetToLatestAndBackfill"


def part(partition: int, first: int, to: int) -> Json:
    """One range of the answer."""
    return {"topic": TOPIC, "partition": partition, "from": first, "to": to}


def test_it_answers_as_druid_and_tells_who_reads_what(world: World) -> None:
    """Source: Druid 39: 200 `{id, backfillSupervisorId}`."""
    agents = reading(world)

    answer = world.post(PATH)

    assert answer.status_code == 200, answer.text
    backfill = answer.json()
    own = backfill["backfillSupervisorId"]
    assert (backfill["id"], backfill["dryRun"]) == (TOPIC, False)
    assert own.startswith(f"{TOPIC}_backfill_")
    assert len(own) == len(TOPIC) + len("_backfill_") + 8
    assert backfill["partitions"] == [
        moved(0, 0, RECORDS, skipped=RECORDS),
        moved(1, 0, RECORDS, skipped=RECORDS),
    ]
    assert backfill["backfill"] == [part(0, 0, RECORDS), part(1, 0, RECORDS)]
    assert backfill["backfillTaskCount"] == 2
    assert {g["generationId"] for g in backfill["discarded"]} == {"clicks:1", "clicks:2"}
    assert answer.headers["Tidegate-Operation"] == backfill["operationId"]
    assert world.get_object(f"/api/v1/operations/{backfill['operationId']}")["state"] == "done"
    assert world.payload()["committedOffsets"] == {"0": RECORDS, "1": RECORDS}
    for supervisor_id in (TOPIC, own):
        world.settle(supervisor_id)
    world.round(agents)
    bounds = [a.held[t].wanted.bound for a, t in task_ids(agents) if own in t]
    assert {at for bound in bounds if bound for at in bound.values()} == {RECORDS}


def test_the_other_is_a_spec_like_any_that_is_posted(world: World) -> None:
    reading(world)

    own = world.post(f"{PATH}?backfillTaskCount=1").json()["backfillSupervisorId"]

    spec = world.get_object(f"{SUPERVISORS}/{own}")
    source = spec["ioConfig"]
    assert isinstance(source, dict)
    assert (spec["id"], source["taskCount"], source["topic"]) == (own, 1, TOPIC)
    assert source["boundedStreamConfig"] == {
        "startSequenceNumbers": {"0": 0, "1": 0},
        "endSequenceNumbers": {"0": RECORDS, "1": RECORDS},
    }
    again = world.post(SUPERVISORS, spec)
    assert (again.status_code, again.json()["modified"]) == (200, False)


def test_the_ledger_names_who_reads_what_is_skipped(world: World) -> None:
    reading(world)

    backfill = world.client.post(PATH, headers={"X-Druid-Author": "ada"}).json()

    gaps = world.get_object(f"/api/v1/supervisors/{TOPIC}/ledger")["gaps"]
    assert isinstance(gaps, list)
    own = backfill["backfillSupervisorId"]
    assert {(g["kind"], g["why"]) for g in gaps} == {
        ("skipped", f"reset to latest by ada: {own} reads what is skipped")
    }


def test_a_dry_run_tells_the_same_and_changes_nothing(world: World) -> None:
    reading(world)
    before = world.payload()["groups"]

    dry = world.post(f"{PATH}?dryRun=true").json()

    assert world.payload()["groups"] == before
    assert world.get(SUPERVISORS) == [TOPIC]
    done = world.post(PATH).json()
    itself = {"dryRun", "backfillSupervisorId", "operationId"}
    assert {k: v for k, v in dry.items() if k not in itself} == {
        k: v for k, v in done.items() if k not in itself
    }
    assert (dry["backfillSupervisorId"], dry["operationId"]) == (None, None)


def test_a_spec_with_use_earliest_offset_is_not_refused(world: World) -> None:
    """Goal: Druid refuses it; here the flag says nothing about offsets that are stored."""
    reading(world)  # its spec has it

    assert world.post(PATH).status_code == 200


@pytest.mark.parametrize("count", ["0", "-1", "x", "1001"])
def test_a_task_count_that_makes_no_sense_is_a_400(world: World, count: str) -> None:
    reading(world)

    answer = world.post(f"{PATH}?backfillTaskCount={count}")

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-request")
    assert world.get(SUPERVISORS) == [TOPIC]


def test_what_has_nothing_to_backfill_is_a_400_that_says_what_to_do(world: World) -> None:
    world.start()
    refusals = [world.post(PATH)]
    world.streams.append(TOPIC, 0, RECORDS)
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    refusals.append(world.post(PATH))
    bounds = {"startSequenceNumbers": {"0": 0}, "endSequenceNumbers": {"0": 5}}
    bounded = spec_document(boundedStreamConfig=bounds) | {"id": "fixed"}
    assert world.post(SUPERVISORS, bounded).status_code == 200
    refusals.append(world.post(f"{SUPERVISORS}/fixed/resetToLatestAndBackfill"))

    problems = [(a.status_code, a.json()["type"], a.json()["detail"]) for a in refusals]

    assert {(status, kind) for status, kind, _ in problems} == {(400, "/problems/no-backfill")}
    for (_, _, detail), word in zip(
        problems, ("nothing to backfill", "resume", "fixed"), strict=True
    ):
        assert word in detail


def test_an_unknown_or_terminated_supervisor_is_a_404_in_druids_words(world: World) -> None:
    reading(world)
    world.post(f"{SUPERVISORS}/{TOPIC}/terminate")

    for name in (TOPIC, "nobody"):
        answer = world.post(f"{SUPERVISORS}/{name}/resetToLatestAndBackfill")
        assert answer.status_code == 404
        assert answer.text == f"Cannot find any supervisor with id: [{name}]"


def test_without_kafkas_offsets_it_is_a_503(world: World) -> None:
    """Source: Druid answers 500 here."""
    reading(world)
    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer from localhost:9092")

    answer = world.post(PATH)

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/stream-unavailable")
    assert world.get(SUPERVISORS) == [TOPIC]


def test_it_acts_on_the_version_that_the_caller_has_seen_and_once_per_key(world: World) -> None:
    reading(world)
    tag = world.client.get(f"{SUPERVISORS}/{TOPIC}").headers["ETag"]
    stale = world.client.post(PATH, headers={"If-Match": '"9-0123456789abcdef"'})
    assert stale.status_code == 412

    headers = {"If-Match": tag, "Idempotency-Key": "once"}
    first, second = (world.client.post(PATH, headers=headers) for _ in range(2))

    assert first.status_code == 200
    assert second.json() == first.json()
    assert len(world.get(SUPERVISORS)) == 2  # type: ignore[arg-type]
