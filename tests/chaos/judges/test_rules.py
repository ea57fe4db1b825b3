"""Each judge of the rows can fail: it is shown what it has to see, and what it must let pass."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.chaos.judges.books import EventRow, TaskRow
from tests.chaos.judges.pauses import Pause, pauses_of
from tests.chaos.judges.rules import (
    SLACK_S,
    Bounds,
    Order,
    changed_verdicts,
    ends_fixed_again,
    failed_winners,
    falling_terms,
    harmful_sleepers,
    long_pauses,
)
from tests.chaos.judges.witness import Sleeper, Witness

pytestmark = pytest.mark.chaos
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LEASE_S = 60.0
WON = TaskRow("won", "w1", "SUCCESS", False, "published", NOON, NOON, "committed")
LOST = TaskRow("lost", "w2", "FAILED", True, "its worker is lost", NOON, NOON)


def ended(task: TaskRow) -> EventRow:
    """What was told when a task ended."""
    return EventRow(NOON, "g", task.id, {"status": task.status, "reason": task.reason})


def test_a_plan_of_an_older_term_is_found_by_the_order_of_ids() -> None:
    """Goal: I5: a leader that was replaced wrote one more plan."""
    assert falling_terms({1: 1, 2: 1, 3: 2}, [(0.0, 1), (9.0, 2)]) == []
    assert falling_terms({3: 1, 1: 1, 2: 2}, []) == [
        "I5: plan 3 is of term 1, one before it of term 2"
    ]
    assert falling_terms({}, [(0.0, 2), (9.0, 1)]) == ["I5: term 2 became 1"]


def test_a_winner_that_failed_is_found() -> None:
    """Goal: I7: nobody is told FAILED whose files are in the table, nor `committed` without any."""
    assert failed_winners([WON, LOST], {"g": "won"}) == []
    assert failed_winners([replace(WON, status="FAILED")], {"g": "won"}) == [
        "I7: won is FAILED, and its range is published by it"
    ]
    assert failed_winners([WON], {"g": "another"}) == [
        "I7: won was answered committed, and has not published"
    ]


@pytest.mark.parametrize(
    ("row", "endings", "expected"),
    [
        (LOST, [ended(LOST)], []),
        (LOST, [ended(replace(LOST, status="SUCCESS"))], ["I7: lost ended as "]),
        (LOST, [ended(replace(LOST, reason="another"))], ["I7: lost ended as "]),
        (LOST, [], ["I7: lost ended as None"]),
        (LOST, [ended(LOST), ended(LOST)], ["I7: lost ended as "]),
        (replace(LOST, ended_at=None), [ended(LOST)], ["I7: lost ended as "]),
    ],
)
def test_a_task_that_changes_after_its_end_is_found(
    row: TaskRow, endings: list[EventRow], expected: list[str]
) -> None:
    """Goal: I7: the first verdict stays; what was told of it is what the row says."""
    findings = changed_verdicts([row], endings)
    assert len(findings) == len(expected)
    assert all(one.startswith(start) for one, start in zip(findings, expected, strict=True))


def test_an_end_that_is_fixed_twice_or_is_another_one_is_found() -> None:
    """Goal: D2: whoever slept has fixed none beside that of its successor."""
    event = EventRow(NOON, "g", "", {"end": {"t:0": 7}})
    assert ends_fixed_again([event], {"g": {"t:0": 7}}) == []
    assert ends_fixed_again([event, event], {"g": {"t:0": 7}}) == ["D2: 2 ends were fixed for g"]
    assert ends_fixed_again([event], {"g": {"t:0": 8}}) == [
        "D2: g was to end at {'t:0': 7}, and ends at {'t:0': 8}"
    ]
    assert ends_fixed_again([], {"g": {"t:0": 7}}) == ["D2: g has an end that nobody fixed"]


def test_a_sleeper_that_publishes_what_was_replaced_is_found() -> None:
    """Goal: B9: it is fenced; one that had published before it slept is none."""
    slept = Sleeper("w2", 0.0, 60.0, (LOST,))
    assert harmful_sleepers([slept], [LOST], {"g": "won"}) == []
    assert harmful_sleepers([slept], [LOST], {"g": "lost"}) == [
        "B9: lost was replaced while w2 slept, and won"
    ]
    risen = replace(LOST, status="SUCCESS", reason="published")
    assert harmful_sleepers([slept], [risen], {}) == [
        f"B9: lost was {LOST.verdict}, and is {risen.verdict}"
    ]
    early = Sleeper("w1", 0.0, 60.0, (WON,))
    assert harmful_sleepers([early], [WON], {"g": "won"}) == []


def bounds(seen: Witness | None = None, *orders: Order) -> Bounds:
    """A run of a thousand seconds."""
    return Bounds(LEASE_S, orders, seen or Witness(), over=1_000.0)


def paused(ended: float | None) -> Pause:
    """A pause of one task that began at 100 s."""
    return Pause("t", "g", "w1", 100.0, ended)


LATEST = 100.0 + LEASE_S + SLACK_S


def test_a_pause_that_outlasts_its_lease_is_found() -> None:
    """Goal: I9, A2: also one that never ends."""
    assert long_pauses([paused(LATEST)], bounds()) == []
    assert long_pauses([paused(LATEST + 1)], bounds()) == ["I9: t stood still for 81.0 s"]
    assert long_pauses([paused(None)], bounds()) == ["I9: t stood still for 900.0 s"]


def test_a_pause_is_excused_by_an_order_of_its_own_range_or_a_new_leader_only() -> None:
    """Goal: the lease counts from the last order; one of another range is no excuse."""
    late = [paused(LATEST + 30)]
    assert long_pauses(late, bounds(None, Order(130.0, "g"))) == []
    assert long_pauses(late, bounds(None, Order(130.0))) == []
    assert len(long_pauses(late, bounds(None, Order(129.0, "g")))) == 1
    assert len(long_pauses(late, bounds(None, Order(130.0, "another")))) == 1
    assert len(long_pauses(late, bounds(None, Order(LATEST + 40)))) == 1


def test_a_pause_ends_with_its_worker_and_lasts_through_its_sleep() -> None:
    """Goal: who is dead or was stopped cannot read on; who goes on has no time left."""
    died = Witness(ended=[(50.0, "w1"), (150.0, "w1"), (120.0, "w2")])
    assert long_pauses([paused(None)], bounds(died)) == []
    another = Witness(ended=[(150.0, "w2")])
    assert len(long_pauses([paused(None)], bounds(another))) == 1
    slept = Witness(sleepers=[Sleeper("w1", 110.0, 300.0)])
    assert long_pauses([paused(300.0 + SLACK_S)], bounds(slept)) == []
    assert len(long_pauses([paused(301.0 + SLACK_S)], bounds(slept))) == 1


def line(event: str, second: int, task: str = "t") -> str:
    """A line of a worker's log."""
    at = (NOON + timedelta(seconds=second)).isoformat()
    return json.dumps({"task": task, "generation": "g", "event": event, "timestamp": at})


def test_pauses_are_read_from_what_workers_log() -> None:
    """Goal: from the pause to whatever ends it; a worker that died tells no end."""
    log = [
        line("it has paused", 1),
        line("a batch is journaled", 2, "another"),
        '{"task": "cut o',
        line("it reads to its end", 4),
        line("it has paused", 5, "dies"),
        line("the task begins", 9, "dies"),
        line("it has paused", 10, "stays"),
    ]
    start = NOON.timestamp()
    assert pauses_of("w1", log) == [
        Pause("t", "g", "w1", start + 1, start + 4),
        Pause("dies", "g", "w1", start + 5, None),
        Pause("stays", "g", "w1", start + 10, None),
    ]
