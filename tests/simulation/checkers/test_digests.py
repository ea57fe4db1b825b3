"""B11: the checker speaks of each difference that nobody was told of, and of each false alarm."""

import json

import pytest

from tests.simulation.checkers.broken import LATER, SUP, Broken
from tests.simulation.checkers.digests import FAULT, differences_are_reported
from tests.simulation.checkers.invariants import after_event

GOOD, BAD = "1:00000000000000aa", "1:00000000000000bb"


@pytest.fixture
def published(world: Broken) -> Broken:
    """A worker drifts; t2 made other rows than t1, which the overlord heard and told of."""
    world.happened("fault", name=FAULT)
    world.task("t2", "g1", replica=1)
    world.fix_end("g1", 5)
    assert after_event(world) == []
    world.publish("g1", "t1", 0, 5)
    world.sql("UPDATE tasks SET status='SUCCESS', ended_at=? WHERE id='t2'", LATER)
    divergence = {"task": "t2", "digest": BAD, "records": 5, "found": "other-rows"}
    world.sql("UPDATE publications SET digest=?, diverged=?", GOOD, json.dumps([divergence]))
    world.insert(
        "happenings",
        number=99,
        at=LATER,
        kind="replicas-diverged",
        supervisor_id=SUP,
        generation_id="g1",
        detail=json.dumps({"other": "t2"}),
    )
    world.insert("audit", at=LATER, actor="overlord", action="alert", subject="t2", detail="{}")
    world.happened(
        "publish-answer", task="t1", outcome="committed", digests={"t1": GOOD, "t2": BAD}
    )
    assert after_event(world) == []
    return world


def spoken(world: Broken) -> list[str]:
    return list(differences_are_reported(world.ledger.rows, world))


def test_a_difference_that_was_told_is_not_complained_of(published: Broken) -> None:
    assert spoken(published) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE publications SET diverged=NULL",
        "DELETE FROM happenings WHERE kind='replicas-diverged'",
        "DELETE FROM audit WHERE action='alert'",
    ],
)
def test_a_difference_that_nobody_was_told_of_is_named(published: Broken, change: str) -> None:
    published.sql(change)

    [line] = spoken(published)

    assert line.startswith("B11 ")
    assert "t2" in line


def test_a_late_replica_that_differs_is_to_be_told_of(published: Broken) -> None:
    published.task("t3", "g1", replica=2)
    published.sql("UPDATE tasks SET status='SUCCESS', ended_at=? WHERE id='t3'", "2030-01-01")
    assert after_event(published) == []
    published.happened("publish-answer", task="t1", outcome="committed", digests={"t3": BAD})
    assert spoken(published) == []  # it had ended at another time: it was no replica any more

    published.happened(
        "publish-answer", task="t3", outcome="already-published", digests={"t3": BAD}
    )

    [line] = spoken(published)
    assert "t3" in line


@pytest.mark.parametrize("outcome", ["wait-for-predecessor", "superseded"])
def test_one_that_asked_and_ended_before_anything_was_published_is_compared_with_nothing(
    published: Broken, outcome: str
) -> None:
    """Source: seed 8849; both replicas were superseded, a third one published later."""
    published.task("t3", "g1", replica=2)
    published.sql("UPDATE tasks SET status='FAILED', ended_at=? WHERE id='t3'", "2030-01-01")

    published.happened("publish-answer", task="t3", outcome=outcome, digests={"t3": BAD})

    assert spoken(published) == []


def test_an_alarm_without_a_reason_is_named(published: Broken) -> None:
    """Goal: no false alarm, in any run."""
    published.log[:] = [line for line in published.log if line.kind != "fault"]
    assert "no worker drifts" in spoken(published)[0]
    published.sql("UPDATE publications SET digest=?", BAD)
    assert any("agrees" in line for line in spoken(published))


@pytest.mark.parametrize("unknown", [None, GOOD])
def test_what_is_not_known_or_alike_needs_no_telling(
    published: Broken, unknown: str | None
) -> None:
    published.sql("UPDATE publications SET diverged=NULL")
    published.log[-1] = type(published.log[-1])(
        "publish-answer", {"task": "t1", "outcome": "committed", "digests": {"t2": unknown}}
    )

    assert spoken(published) == []
