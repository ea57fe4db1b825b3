"""What lives in the database of executions, counted from its indexes."""

from sqlalchemy import Connection, func, select

from supervisor.adapters.executions.schema import CALLS, CLAIMS, EXECUTIONS, OUTBOX
from supervisor.core.executions.states import ExecutionState
from supervisor.ports.flows.executions import ExecutionSums

__all__ = ["execution_sums"]

_LIVE = [state for state in ExecutionState if not state.ended]


def execution_sums(connection: Connection) -> ExecutionSums:
    """Count what has not ended; of what has, nothing is read."""
    states = EXECUTIONS.c.state
    counted = select(states, func.count()).where(states.in_(_LIVE)).group_by(states)
    by_state = {ExecutionState(state): number for state, number in connection.execute(counted)}
    calls = connection.scalar(select(func.count()).select_from(CALLS)) or 0
    held = connection.scalar(select(func.count()).select_from(CLAIMS)) or 0
    letters = connection.scalar(select(func.count()).select_from(OUTBOX)) or 0
    live = {state: by_state.get(state, 0) for state in _LIVE}
    return ExecutionSums(live, calls, held, letters)
