"""What the planner ends: suspended, changed and terminated supervisors."""

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import (
    BeginHandoff,
    CloseEmpty,
    DiscardGeneration,
)
from supervisor.core.planning.plan import plan
from tasks.contract.messages import TaskPhase
from tests.supervisor.core.snapshots import (
    EVEN,
    MINUTE,
    NOON,
    ODD,
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


def test_an_empty_range_that_must_end_is_closed() -> None:
    """Goal: suspending an idle supervisor ends its tasks without publishing (P12)."""
    even = pausing(must_end=True)
    t1 = task(even)
    seen = observed(
        spec(suspended=True),
        generations=(even,),
        tasks=(t1,),
        workers=(worker("w1", report(t1, EVEN, TaskPhase.PAUSED, sequence=1)),),
        now=NOON + MINUTE,
        version=2,
        older={1: spec()},
    )

    assert [type(a) for a in plan(seen).actions] == [CloseEmpty]


def test_a_suspended_supervisor_hands_off_and_opens_nothing() -> None:
    """Goal: what was read is published, nothing new starts."""
    even, odd, t1, t2 = reading()
    seen = observed(
        spec(suspended=True),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        version=2,
        older={1: spec()},
    )

    decided = plan(seen).actions

    assert [type(a) for a in decided] == [BeginHandoff, BeginHandoff]
    assert all(isinstance(a, BeginHandoff) and a.must_end for a in decided)


def test_suspend_then_resume_of_the_same_spec_disturbs_nothing_that_reads() -> None:
    """Goal: least disturbance: versions 2 and 3 ask for what version 1 asked for."""
    even, odd, t1, t2 = reading()
    seen = observed(
        spec(),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        version=3,
        older={1: spec()},
    )

    assert plan(seen).actions == ()


def test_a_new_spec_ends_the_groups_of_the_old_one() -> None:
    """Goal: a generation runs with one version of the spec from its start to its end (P8)."""
    even, odd, t1, t2 = reading()
    seen = observed(
        other_spec(),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        version=2,
        older={1: spec()},
    )

    assert [type(a) for a in plan(seen).actions] == [BeginHandoff, BeginHandoff]


def test_after_a_tombstone_what_is_lost_is_discarded_and_nothing_starts() -> None:
    """Goal: terminate ends (P19)."""
    even = generation(1, EVEN, {part(0): 9, part(2): 4}, state=GenerationState.PUBLISHING)
    seen = observed(
        generations=(even,), workers=(worker(),), terminated=True, version=2, older={1: spec()}
    )

    assert [type(a) for a in plan(seen).actions] == [DiscardGeneration]


def test_after_a_tombstone_a_live_replica_may_publish() -> None:
    """Goal: terminate is graceful."""
    even = generation(1, EVEN, {part(0): 9, part(2): 4}, state=GenerationState.PUBLISHING)
    t1 = task(even)
    seen = observed(
        generations=(even,),
        tasks=(t1,),
        workers=(worker("w1", report(t1, EVEN, TaskPhase.PUBLISHING)),),
        terminated=True,
        version=2,
        older={1: spec()},
    )

    assert plan(seen).actions == ()
