"""Supervisors as attention rules see them, and how a sentence names several ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from supervisor.core.attention.items import Subject, SubjectKind
from supervisor.core.attention.pass_conditions import PassConditions
from supervisor.core.history.listing import ListedSupervisor
from supervisor.core.planning.observed import Observed

NAMES_MAX = 3
"""Supervisors that a sentence names; it counts the others."""


@dataclass(frozen=True)
class WatchedSupervisor:
    """One supervisor, as its row, its last pass and its conditions show it."""

    row: ListedSupervisor
    seen: Observed | None
    """None: no pass of this leader has seen it."""
    conditions: PassConditions | None

    @property
    def about(self) -> Subject:
        """The supervisor as the subject of an item."""
        return Subject(SubjectKind.SUPERVISOR, self.row.id)


def names_of(ids: Sequence[str]) -> str:
    """Return the names of one supervisor or more, as a part of a sentence."""
    if len(ids) <= NAMES_MAX:
        return " and ".join(filter(None, (", ".join(ids[:-1]), ids[-1])))
    return f"{', '.join(ids[:NAMES_MAX])} and {len(ids) - NAMES_MAX} more"


def common_table(supervisors: Iterable[WatchedSupervisor]) -> str | None:
    """Return the table of all these supervisors; None: they have several ones."""
    tables = {each.row.newest.data_source for each in supervisors}
    return tables.pop() if len(tables) == 1 else None
