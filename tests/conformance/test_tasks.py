"""Tasks: one active attempt per replica, the first verdict stays, the folder is remembered."""

from dataclasses import replace

import pytest

from supervisor.core.model.rows import TaskStatus, TaskTotals
from supervisor.core.values.errors import StateMoved
from supervisor.core.values.intervals import Interval
from tasks.contract.messages import Counters, PublishOutcome
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    MINUTE,
    NOON,
    P0,
    P1,
    Leader,
    attempt,
    end_at,
    opening,
)

FAILED, SUCCESS = TaskStatus.FAILED, TaskStatus.SUCCESS


@pytest.fixture
def reading(leader: Leader) -> Leader:
    """Generations g1 and g2 read a partition each."""
    leader.opens(opening("g1", 1, {P0: 0}))
    leader.opens(opening("g2", 2, {P1: 0}))
    return leader


def _start(leader: Leader, *names: str) -> None:
    """Start tasks named generation/replica/attempt."""
    with leader.writes() as tx:
        for name in names:
            generation_id, replica, number = name.split("/")
            assert tx.tasks.start(attempt(name, generation_id, int(replica), int(number)))


def _end(leader: Leader, task_id: str, status: TaskStatus, minutes: int = 0) -> bool:
    with leader.writes() as tx:
        return tx.tasks.end(task_id, status, f"{status} then", NOON + minutes * MINUTE)


def test_a_task_is_read_back_as_it_was_started(reading: Leader) -> None:
    _start(reading, "g1/0/0")
    assert reading.task("g1/0/0") == attempt("g1/0/0")


def test_a_task_started_twice_is_started_once(reading: Leader) -> None:
    _start(reading, "g1/0/0")
    with reading.writes() as tx:
        assert not tx.tasks.start(replace(attempt("g1/0/0"), worker_id="w2"))
    assert reading.task("g1/0/0").worker_id == "w1"


def test_a_replica_has_one_active_task(reading: Leader) -> None:
    """Goal: nothing is left of the refused one, even if its transaction goes on."""
    _start(reading, "g1/0/0")
    with reading.writes() as tx:
        with pytest.raises(StateMoved):
            tx.tasks.start(attempt("second", number=1))
        assert tx.tasks.start(attempt("other replica", replica=1))

    with reading.reads() as tx:
        assert [t.id for t in tx.tasks.active(CLICKS)] == ["g1/0/0", "other replica"]
        assert tx.tasks.get("second") is None


def test_an_ended_task_makes_room_for_the_next_and_is_not_started_again(reading: Leader) -> None:
    _start(reading, "g1/0/0")
    _end(reading, "g1/0/0", FAILED)
    with reading.writes() as tx:
        assert not tx.tasks.start(attempt("g1/0/0"))
        assert tx.tasks.start(attempt("g1/0/1", number=1))


def test_the_first_verdict_on_a_task_stays(reading: Leader) -> None:
    _start(reading, "g1/0/0")
    assert _end(reading, "g1/0/0", SUCCESS, 1)
    assert not _end(reading, "g1/0/0", FAILED, 2)
    assert not _end(reading, "never", FAILED, 2)

    found = reading.task("g1/0/0")
    assert (found.status, found.reason, found.ended_at) == (SUCCESS, "SUCCESS then", NOON + MINUTE)


def test_active_tasks_are_found_by_supervisor_and_by_worker(reading: Leader) -> None:
    _start(reading, "g1/1/0", "g1/0/0")
    with reading.writes() as tx:
        tx.tasks.start(replace(attempt("x", "g2"), supervisor_id="other", worker_id="w2"))
        tx.tasks.start(replace(attempt("y", "g2", 1), worker_id="w2"))
    _end(reading, "g1/1/0", FAILED)

    with reading.reads() as tx:
        listed = [
            tx.tasks.active(),
            tx.tasks.active(CLICKS),
            tx.tasks.active(worker_id="w2"),
            tx.tasks.active(CLICKS, "w2"),
            tx.tasks.active("never"),
        ]
    assert [[t.id for t in found] for found in listed] == [
        ["g1/0/0", "x", "y"],
        ["g1/0/0", "y"],
        ["x", "y"],
        ["y"],
        [],
    ]


@pytest.mark.parametrize("lost", [False, True])
def test_an_ended_task_tells_whether_its_worker_was_lost(reading: Leader, *, lost: bool) -> None:
    with reading.writes() as tx:
        tx.tasks.start(attempt("t1"))
        tx.tasks.end("t1", TaskStatus.FAILED, "a story", NOON, lost=lost)
    assert reading.task("t1").lost is lost


def test_the_last_attempt_is_the_ended_one_with_the_highest_number(reading: Leader) -> None:
    for number in (9, 10):
        _start(reading, f"g1/0/{number}")
        _end(reading, f"g1/0/{number}", FAILED, -number)
    _start(reading, "g1/0/11", "g1/1/0", "g2/0/0")
    _end(reading, "g2/0/0", FAILED)

    with reading.reads() as tx:
        last = tx.tasks.last_attempts(["g1", "g2", "never"])
        assert {key: task.id for key, task in last.items()} == {
            ("g1", 0): "g1/0/10",
            ("g2", 0): "g2/0/0",
        }
        assert tx.tasks.last_attempts(["g1"]).keys() == {("g1", 0)}
        assert tx.tasks.last_attempts([]) == {}


def test_tasks_of_generations_come_by_id(reading: Leader) -> None:
    _start(reading, "g2/0/0", "g1/1/0", "g1/0/0")
    with reading.reads() as tx:
        assert [t.id for t in tx.tasks.of_generations(["g2", "g1"])] == [
            "g1/0/0",
            "g1/1/0",
            "g2/0/0",
        ]
        assert [t.id for t in tx.tasks.of_generations(["g2"])] == ["g2/0/0"]
        assert tx.tasks.of_generations([]) == []
    _end(reading, "g1/0/0", FAILED)
    with reading.reads() as tx:
        running = tx.tasks.of_generations(["g2", "g1"], active=True)
        assert [t.id for t in running] == ["g1/1/0", "g2/0/0"]
        assert len(tx.tasks.of_generations(["g2", "g1"])) == 3


def test_tasks_are_found_newest_first_and_by_what_is_asked(reading: Leader) -> None:
    with reading.writes() as tx:
        for number in (1, 2, 3):
            created = NOON + number * MINUTE
            tx.tasks.start(replace(attempt(f"t{number}", replica=number), created_at=created))
        tx.tasks.start(replace(attempt("x", "g2"), supervisor_id="other", data_source="views"))
    _end(reading, "t2", FAILED)

    with reading.reads() as tx:
        selections = [
            tx.tasks.find(),
            tx.tasks.find(limit=2),
            tx.tasks.find(status=TaskStatus.RUNNING),
            tx.tasks.find(data_source="views"),
            tx.tasks.find(supervisor_id=CLICKS, status=FAILED),
        ]
    assert [[t.id for t in found] for found in selections] == [
        ["t3", "t2", "t1", "x"],
        ["t3", "t2"],
        ["t3", "t1", "x"],
        ["x"],
        ["t2"],
    ]


def test_a_slot_is_in_use_until_the_end_is_fixed(reading: Leader) -> None:
    with reading.writes() as tx:
        tx.tasks.start(attempt("a", "g1"))
        tx.tasks.start(attempt("b", "g2"))
        tx.tasks.start(replace(attempt("c", "g2", 1), worker_id="w2"))
        assert tx.tasks.slots_in_use() == {"w1": 2, "w2": 1}
        tx.generations.begin_handoff("g1", 0, must_end=False, why="", now=NOON)
        assert tx.tasks.slots_in_use() == {"w1": 2, "w2": 1}
        tx.generations.fix_end(end_at("g1", 1, {P0: 5}), NOON)
        tx.tasks.end("c", FAILED, "", NOON)

    with reading.reads() as tx:
        assert tx.tasks.slots_in_use() == {"w1": 1}


def test_the_outcome_of_a_publish_request_is_kept(reading: Leader) -> None:
    _start(reading, "g1/0/0", "g1/1/0")
    with reading.writes() as tx:
        tx.tasks.store_outcome("g1/0/0", PublishOutcome.COMMITTED, published=True)
        tx.tasks.store_outcome("g1/1/0", PublishOutcome.ALREADY_PUBLISHED, published=False)

    winner, other = reading.task("g1/0/0"), reading.task("g1/1/0")
    assert (winner.outcome, winner.published) == (PublishOutcome.COMMITTED, True)
    assert (other.outcome, other.published) == (PublishOutcome.ALREADY_PUBLISHED, False)


def test_a_newer_incarnation_takes_up_the_tasks_it_names(reading: Leader) -> None:
    """Goal: rule P7; the old process cannot publish with the old token."""
    _start(reading, "g1/0/0", "g1/1/0", "g2/0/0")
    with reading.writes() as tx:
        tx.tasks.start(replace(attempt("w2's", "g2", 1), worker_id="w2"))
    _end(reading, "g2/0/0", FAILED)
    tokens = {"g1/0/0": "new", "g2/0/0": "new", "w2's": "new", "never": "new"}
    with reading.writes() as tx:
        tx.tasks.take_up("w1", 2, tokens)
        tx.tasks.take_up("w1", 3, {})

    taken = reading.task("g1/0/0")
    assert (taken.incarnation, taken.token, taken.taken_up) == (2, "new", True)
    for untouched in ("g1/1/0", "g2/0/0", "w2's"):
        task = reading.task(untouched)
        assert (task.incarnation, task.token) == (1, f"token of {untouched}")
        assert not task.taken_up


def test_what_no_incarnation_has_seen_begins_under_the_newer_one(reading: Leader) -> None:
    _start(reading, "g1/0/0", "g1/1/0")
    tokens = {"g1/0/0": "new", "g1/1/0": "new"}
    with reading.writes() as tx:
        tx.tasks.take_up("w1", 2, tokens, unseen={"g1/1/0", "never"})

    seen, unseen = reading.task("g1/0/0"), reading.task("g1/1/0")
    assert (seen.incarnation, seen.token, seen.taken_up) == (2, "new", True)
    assert (unseen.incarnation, unseen.token, unseen.taken_up) == (2, "new", False)

    with reading.writes() as tx:
        tx.tasks.take_up("w1", 3, {"g1/0/0": "newer"}, unseen={"g1/0/0"})
    assert reading.task("g1/0/0").taken_up, "an earlier incarnation has a journal of it"


def test_an_older_incarnation_takes_up_nothing(reading: Leader) -> None:
    _start(reading, "g1/0/0")
    with reading.writes() as tx:
        tx.tasks.take_up("w1", 3, {"g1/0/0": "third"})
        tx.tasks.take_up("w1", 2, {"g1/0/0": "second"})
        tx.tasks.take_up("w1", 3, {"g1/0/0": "third again"})
    found = reading.task("g1/0/0")
    assert (found.incarnation, found.token) == (3, "third")


def test_failures_count_from_the_last_success(reading: Leader) -> None:
    verdicts = [FAILED, FAILED, SUCCESS, FAILED, FAILED, FAILED]
    counted = []
    for number, status in enumerate(verdicts):
        _start(reading, f"g1/0/{number}")
        _end(reading, f"g1/0/{number}", status, number)
        with reading.reads() as tx:
            counted.append(tx.tasks.failures_in_a_row(CLICKS))
    assert counted == [1, 2, 0, 1, 2, 3]
    with reading.reads() as tx:
        assert tx.tasks.failures_in_a_row("other") == 0


def test_tasks_that_were_lost_are_neither_failures_nor_endings_of_their_own(
    reading: Leader,
) -> None:
    """Goal: workers that are killed make no supervisor unhealthy and no replacement wait."""
    stories = [(FAILED, True), (SUCCESS, False), (FAILED, False), (FAILED, True), (FAILED, False)]
    for number, (status, lost) in enumerate(stories):
        _start(reading, f"g1/0/{number}")
        with reading.writes() as tx:
            at = NOON + number * MINUTE
            tx.tasks.end(f"g1/0/{number}", status, "a story", at, lost=lost)

    with reading.reads() as tx:
        assert tx.tasks.failures_in_a_row(CLICKS) == 2
        assert [t.id for t in tx.tasks.last_ended(CLICKS, 9)] == ["g1/0/4", "g1/0/2", "g1/0/1"]
        assert [t.id for t in tx.tasks.last_ended(CLICKS, 2)] == ["g1/0/4", "g1/0/2"]
        assert tx.tasks.last_ended("other", 9) == []


def test_rows_are_found_by_their_ids_however_many_are_asked_for(reading: Leader) -> None:
    """Goal: a sweep of a large warehouse asks for more ids than a statement takes."""
    _start(reading, "g1/0/0", "g1/1/0", "g2/0/0")
    never = [f"never {number}" for number in range(70_000)]
    with reading.reads() as tx:
        found = tx.tasks.rows_of(["g2/0/0", *never, "g1/1/0", "g2/0/0"])
        assert tx.tasks.rows_of([]) == {}
    assert found == {task_id: reading.task(task_id) for task_id in ("g1/1/0", "g2/0/0")}


def test_a_folder_that_was_found_empty_for_good_is_noted(reading: Leader) -> None:
    _start(reading, "g1/0/0")
    _end(reading, "g1/0/0", FAILED)
    assert reading.task("g1/0/0").folder_deleted_at is None
    with reading.writes() as tx:
        tx.tasks.folder_deleted("g1/0/0", NOON + HOUR)
    assert reading.task("g1/0/0").folder_deleted_at == NOON + HOUR


def test_a_task_of_no_generation_is_a_bug(leader: Leader) -> None:
    with pytest.raises(AssertionError), leader.writes() as tx:
        tx.tasks.start(attempt("t1", "never"))
    with leader.reads() as tx:
        assert tx.tasks.active() == []


def test_tasks_are_found_by_when_they_were_made(reading: Leader) -> None:
    """Goal: the start is inside, the end is not; any other condition holds as well."""
    with reading.writes() as tx:
        for minute, generation in enumerate(("g1", "g2")):
            task = attempt(f"{generation}/0/0", generation)
            assert tx.tasks.start(replace(task, created_at=NOON + minute * MINUTE))
    first, both = Interval(NOON, NOON + MINUTE), Interval(NOON, NOON + HOUR)

    with reading.reads() as tx:
        selections = [tx.tasks.find(created=first), tx.tasks.find(created=both, limit=1)]
        none = tx.tasks.find(created=first, data_source="views")

    assert [[task.id for task in tasks] for tasks in selections] == [["g1/0/0"], ["g2/0/0"]]
    assert none == []


def test_what_a_task_had_done_is_kept_with_its_end(reading: Leader) -> None:
    """Goal: the first verdict's, as it was told; a task that ended without a word has none."""
    _start(reading, "g1/0/0", "g2/0/0")
    done = TaskTotals(Counters(processed=7, unparseable=2, batches=3), {P0: 9})
    with reading.writes() as tx:
        assert tx.tasks.end("g1/0/0", SUCCESS, "published", NOON, totals=done)
        assert not tx.tasks.end("g1/0/0", FAILED, "late", NOON)
        assert tx.tasks.end("g2/0/0", FAILED, "lost", NOON)

    assert reading.task("g1/0/0").totals == done
    assert reading.task("g2/0/0").totals is None
