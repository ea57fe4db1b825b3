"""Flows at work in the metrics: what has not ended, and whether the leader keeps up."""

from datetime import timedelta

from supervisor.core.executions.states import ExecutionState
from tests.supervisor.api.routes.cluster.test_metrics import families
from tests.supervisor.api.routes.flows.conftest import Running

MINUTE = timedelta(minutes=1)
ASKS = {"name": "ok", "type": "approve", "question": "go on?"}
NOBODYS = {"name": "tell", "type": "noop"}


def test_what_has_not_ended_is_counted_by_state(running: Running) -> None:
    running.apply(flow="ask", steps=[ASKS])
    running.apply(flow="go", steps=[NOBODYS])
    asking = [running.start("ask") for _ in range(2)]
    running.wait_for(running.start("go"), "SUCCESS")
    for execution in asking:
        running.run_of(execution, "ok")
    running.world.post(f"/api/v1/executions/{asking[0]}/pause").raise_for_status()

    by_name = families(running.world)

    states = {each.labels["state"]: each.value for each in by_name["tidegate_executions"].samples}
    live = {state.value.lower(): 0 for state in ExecutionState if not state.ended}
    assert states == live | {"running": 1, "paused": 1}
    calls = {e.labels["state"]: e.value for e in by_name["tidegate_execution_calls"].samples}
    assert calls == {"open": 0, "held": 0}
    [late] = by_name["tidegate_executions_late_seconds"].samples
    assert late.value == 0


def test_what_is_due_and_not_looked_at_is_late(running: Running) -> None:
    """Goal: a leader whose duty stands still shows; nobody works in what is due here."""
    running.apply(flow="rest", steps=[{"name": "rest", "type": "sleep", "duration": "PT10S"}])
    running.wait_for(running.start("rest"), "RUNNING")

    running.world.clock.advance(MINUTE)

    [late] = families(running.world)["tidegate_executions_late_seconds"].samples
    assert late.value == 50
