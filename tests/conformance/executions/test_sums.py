"""What has not ended, counted alike on both databases."""

from datetime import timedelta

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import ApproveWork, FlowPlan, SetWork, Step
from supervisor.core.executions.states import ExecutionState
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN

_DONE = FlowPlan("done", 1, (Step("v", SetWork({"n": 1})),))
_ASKS = FlowPlan("asks", 1, (Step("ok", ApproveWork("go on?")),), timeout=timedelta(hours=1))


def test_an_empty_database_has_a_zero_for_each_live_state(stored: Stored) -> None:
    with stored.store.reading() as rows:
        sums, due = rows.sums(), rows.next_due()

    assert sums.live == {state: 0 for state in ExecutionState if not state.ended}
    assert (sums.calls, sums.held, due) == (0, 0, None)


def test_what_has_ended_is_not_counted(stored: Stored) -> None:
    stored.now = BEGAN
    for name, plan in (("e1", _ASKS), ("e2", _ASKS), ("e3", _DONE)):
        stored.engine.work(starts=[Execution(name, plan, {}, BEGAN)])

    with stored.store.reading() as rows:
        sums, due = rows.sums(), rows.next_due()

    assert {state: number for state, number in sums.live.items() if number} == {
        ExecutionState.RUNNING: 2
    }
    assert due == BEGAN + timedelta(hours=1)
