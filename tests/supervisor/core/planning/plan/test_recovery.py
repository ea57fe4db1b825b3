"""What the planner gives up, replaces or makes room for; nothing else is ever lost."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.model.rows import CommittedOffset, Generation
from supervisor.core.planning.actions import (
    BeginHandoff,
    CloseEmpty,
    DiscardGeneration,
    EndTask,
    OpenGeneration,
)
from supervisor.core.planning.observed import Liveness, Observed, PlanLimits
from supervisor.core.values.counts import in_seconds
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import (
    END,
    EVEN,
    FOLLOWS,
    MINUTE,
    NOON,
    ODD,
    ODDS,
    PUBLISHES,
    committed,
    decided,
    failed,
    generation,
    observed,
    other_spec,
    part,
    pausing,
    reading,
    report,
    spec,
    task,
    worker,
)

SECOND = timedelta(seconds=1)
# ------------------------------------------------------------------------------ standing still


def standing(
    of: Generation, stalled: timedelta, *, liveness: Liveness = Liveness.ALIVE
) -> Observed:
    """One replica of `of` that could go on and does not; the other group reads."""
    slow, other = task(of), task(ODDS)
    first = worker("w1", report(slow, EVEN, stalled=stalled), liveness=liveness)
    second = worker("w2", report(other, ODD))
    other = replace(other, worker_id="w2")
    return observed(
        generations=(of, ODDS), newest=FOLLOWS, tasks=(slow, other), workers=(first, second)
    )


@pytest.mark.parametrize(
    ("of", "limit", "rule"),
    [
        (generation(1, EVEN), PlanLimits().progress_timeout, "progress timeout is 300 s"),
        (PUBLISHES, 30 * MINUTE, "completionTimeout is 1,800 s"),
    ],
    ids=["reading", "publishing"],
)
def test_a_task_that_stands_still_for_too_long_fails_with_an_alert(
    of: Generation, limit: timedelta, rule: str
) -> None:
    """Goal: a stuck job is replaced, its range is not discarded.  Source: P15, G3."""
    patient = decided(standing(of, limit))
    late = decided(standing(of, limit + SECOND))

    assert not [a for a in patient if isinstance(a, EndTask)]
    [ended] = [a for a in late if isinstance(a, EndTask)]
    assert (ended.task_id, ended.succeeded, ended.lost, ended.alert) == (
        "task-1-0-1",
        False,
        False,
        True,
    )
    assert in_seconds(limit + SECOND) in ended.why
    assert rule in ended.why
    assert not [a for a in late if isinstance(a, DiscardGeneration)]


def test_a_silent_worker_is_not_judged_by_what_it_said_last() -> None:
    """Goal: unknown is not lost (P6), and an old report is no news."""
    seen = standing(generation(1, EVEN), timedelta(hours=1), liveness=Liveness.UNKNOWN)

    assert not [a for a in decided(seen) if isinstance(a, EndTask)]


# ------------------------------------------------------------------------------ a broken spec


def broken(times: int, *, alive: bool = False, newer: bool = True) -> Observed:
    """The first range of the even group fails to publish; its successor reads."""
    gone = failed(task(PUBLISHES, attempt=times), NOON, "REFUSED: no such column")
    follows = task(FOLLOWS)
    mine = (task(PUBLISHES, attempt=times + 1),) if alive else ()
    seen = observed(
        other_spec() if newer else spec(),
        now=NOON + MINUTE,
        generations=(PUBLISHES, ODDS, FOLLOWS),
        tasks=(*mine, task(ODDS), follows),
        last=(gone,),
        workers=(worker("w1", report(follows, END)),),
        failures=times,
        version=2,
        older={1: spec()},
    )
    return replace(seen, failed_attempts={PUBLISHES.id: times})


def test_a_range_that_its_spec_fails_is_given_up_once_there_is_a_newer_one() -> None:
    """Goal: a spec that is mended goes on with what the broken one could not.  Source: P17."""
    enough = PlanLimits().unhealthiness_threshold

    actions = decided(broken(enough))

    assert [a.generation_id for a in actions if isinstance(a, DiscardGeneration)] == [PUBLISHES.id]
    assert "version 2" in actions[-1].why


@pytest.mark.parametrize(
    "seen",
    [
        broken(PlanLimits().unhealthiness_threshold - 1),
        broken(9, alive=True),
        broken(9, newer=False),
        replace(broken(9), current=replace(broken(9).current, spec=None)),
    ],
    ids=["too-few", "one-lives", "the-same-spec", "terminated-is-no-newer-spec"],
)
def test_a_range_is_not_given_up_as_broken_before_its_time(seen: Observed) -> None:
    """Goal: whoever lives may publish it, and without a newer spec it is tried on (P15)."""
    found = [a for a in decided(seen) if isinstance(a, DiscardGeneration)]

    assert not [a for a in found if "failed with spec version" in a.why]


def test_what_was_given_up_is_opened_again_at_its_start_with_the_newer_spec() -> None:
    """Goal: P17, second half; and no generation that failed, so no second discard."""
    seen = replace(broken(3), generations=(ODDS,), tasks=(task(ODDS),), failed_attempts={})

    actions = decided(seen)

    [opened] = [a for a in actions if isinstance(a, OpenGeneration)]
    assert (opened.start, opened.spec_version) == (EVEN, 2)
    assert not [a for a in actions if isinstance(a, DiscardGeneration)]


# ------------------------------------------------------------------------------ after a reset


def stored(**epochs: int) -> dict[TopicPartition, CommittedOffset]:
    """Committed offsets, with the reset epochs of partitions `p0`, `p1`, ..."""
    rows = committed(0, 0, 0, 0)
    for name, epoch in epochs.items():
        at = part(int(name[1:]))
        rows[at] = replace(rows[at], reset_epoch=epoch)
    return rows


def test_a_range_that_a_reset_has_overtaken_is_given_up_although_it_reads() -> None:
    """Goal: a reset that raced with opening heals itself; later ranges go with it (P16)."""
    seen = observed(
        stored=stored(p2=1), generations=(PUBLISHES, ODDS, FOLLOWS), tasks=(task(FOLLOWS),)
    )

    actions = decided(seen)

    assert [a.generation_id for a in actions if isinstance(a, DiscardGeneration)] == [PUBLISHES.id]
    assert "clicks:2 were reset" in actions[-1].why


def test_a_range_that_opened_after_a_reset_reads_on() -> None:
    even, odd, t1, t2 = reading()
    seen = observed(
        stored=stored(p2=1),
        generations=(replace(even, reset_epochs={part(2): 1}), odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
    )

    assert decided(seen) == []


def test_a_range_of_a_partition_that_is_gone_is_given_up() -> None:
    rows = stored()
    del rows[part(2)]
    seen = observed(stored=rows, generations=(generation(1, EVEN), ODDS))

    [found] = [a for a in decided(seen) if isinstance(a, DiscardGeneration)]

    assert "clicks:2 has no stored offset" in found.why


# ------------------------------------------------------------------------------ after a tombstone


def test_what_was_read_and_lost_after_a_tombstone_is_discarded_and_listed() -> None:
    """Goal: an operator hears which offsets are not in the table.  Source: P19."""
    even = pausing(must_end=True)
    gone = replace(failed(task(even), NOON), lost=True)
    seen = observed(
        generations=(even,), last=(gone,), terminated=True, version=2, older={1: spec()}
    )

    assert [type(a) for a in decided(seen)] == [DiscardGeneration]


def test_what_no_task_ever_read_is_closed_after_a_tombstone() -> None:
    """Goal: nothing is called lost that was never read."""
    begun = observed(
        generations=(generation(1, EVEN),), terminated=True, version=2, older={1: spec()}
    )
    paused = replace(begun, generations=(pausing(must_end=True),), now=NOON + 2 * MINUTE)

    assert [type(a) for a in decided(begun)] == [BeginHandoff]
    assert [type(a) for a in decided(paused)] == [CloseEmpty]


# ------------------------------------------------------------------------------ an early handoff


def early_handoffs(
    generations: tuple[Generation, ...], *, stop_task_count: int | None = None
) -> Observed:
    """Every group is asked to hand off long before it is due, and reads."""
    wishes = tuple(replace(g, handoff_request="asked for by me") for g in generations)
    tasks = tuple(task(g) for g in wishes)
    reports = tuple(report(t, g.start) for t, g in zip(tasks, wishes, strict=True))
    wanted = spec(stop_task_count=stop_task_count)
    return observed(wanted, generations=wishes, tasks=tasks, workers=(worker("w1", *reports),))


def test_a_handoff_that_is_asked_for_begins_at_once_whatever_stop_task_count() -> None:
    """Goal: publish now.  Source: Druid's taskGroups/handoff."""
    even, odd, *_ = reading()

    actions = decided(early_handoffs((even, odd), stop_task_count=1))

    assert [(type(a), a.why) for a in actions] == [(BeginHandoff, "asked for by me")] * 2
    assert all(isinstance(a, BeginHandoff) and not a.must_end for a in actions)


def test_a_handoff_that_is_asked_for_waits_until_somebody_can_say_how_far_it_is() -> None:
    """Goal: no pause that nobody hears, again and again."""
    even, odd, *_ = reading()
    seen = replace(early_handoffs((even, odd)), workers=(worker("w1"),))

    assert decided(seen) == []
