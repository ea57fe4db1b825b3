"""Rows of supervisors, for rules that look at several ones."""

from supervisor.core.attention.pass_conditions import PassConditions
from supervisor.core.history.listing import ListedSupervisor, ListedVersion
from supervisor.core.planning.states import State, SupervisorState
from tests.supervisor.core.snapshots import NOON, TOPIC

HEALTHY = SupervisorState(State.RUNNING, State.RUNNING, healthy=True)
KNOWN = PassConditions(NOON, TOPIC)


def row(name: str, state: SupervisorState = HEALTHY, table: str = "") -> ListedSupervisor:
    """A supervisor whose table has its name, unless another one is given."""
    newest = ListedVersion(name, 1, NOON, "ada", table or name, TOPIC, suspended=False)
    return ListedSupervisor(newest, state, NOON, NOON)
