"""Rows of the list of supervisors, including those whose spec this release cannot read."""

from collections.abc import Iterable
from dataclasses import dataclass

from supervisor.core.model.rows import Generation, SpecVersion
from supervisor.core.planning.states import SupervisorState, unread_state
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable, UnknownWord
from supervisor.ports.store import Transaction


@dataclass(frozen=True)
class SupervisorRow:
    """One supervisor of the list, with its state."""

    id: str
    spec: SupervisorSpec | SpecUnreadable
    """The spec; SpecUnreadable: the reason why this release cannot read it."""
    state: SupervisorState


def unreadable_states(newest: Iterable[SpecVersion | SpecUnreadable]) -> dict[str, SupervisorState]:
    """Return supervisor id -> state, of supervisors whose newest spec cannot be read here."""
    unread = (each for each in newest if isinstance(each, SpecUnreadable))
    return {each.supervisor_id: unread_state(each) for each in unread}


def live_in(tx: Transaction, data_source: str) -> tuple[list[Generation], list[str]]:
    """Return the live ranges of a table, and the reasons why those of a supervisor are missing."""
    live: list[Generation] = []
    unread = []
    for supervisor_id, table in sorted(tx.generations.live_tables().items()):
        if table == data_source:
            try:
                live += tx.generations.live(supervisor_id)
            except UnknownWord as error:
                unread.append(f"{supervisor_id}: {error}")
    return live, unread
