"""Bulk verbs: suspend, resume or terminate every supervisor, one guarded change for each."""

from collections.abc import Callable
from dataclasses import dataclass

from supervisor.core.attention.foreseen.bulk import every_foreseen
from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.history.operations import OperationKind
from supervisor.core.values.errors import (
    AlreadyInState,
    PreviewOutdated,
    SpecUnreadable,
    SupervisorNotFound,
)
from supervisor.services.foresight.expected import hold_against
from supervisor.services.foresight.ranges import RangeForesight
from supervisor.services.supervisors.admission import Judge
from supervisor.services.supervisors.specs import Service

_Change = Callable[[str, Judge], object]


@dataclass(frozen=True)
class BulkDone:
    """What a bulk verb has done."""

    changed: tuple[str, ...]
    """The ids of the supervisors that it has changed."""
    left: tuple[str, ...] = ()
    """Those of the preview that it has left alone: by their turn it would have done something else
    to them, or nothing."""


@dataclass(frozen=True)
class BulkVerbs:
    """The bulk verbs; a supervisor that is in the wanted state, or gone by then, is skipped.

    Each supervisor has a transaction and an audit row of its own, so an interrupted call can simply
    be repeated.  `expect` is the digest of the preview that the author has read: then the
    supervisors are those of the preview, each bound to what it shows of it.

    Raises, each of them:
        PreviewOutdated: it would do something else than `expect`; nothing is done.
        LeaseLost: this overlord does not lead; those that are changed stay so.
    """

    service: Service
    foresight: RangeForesight

    def foresee(self, verb: OperationKind) -> Foreseen:
        """Return what suspending, resuming or terminating every supervisor does.

        All are looked at in one view, by as many statements as one of them.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        items, unreadable = self.foresight.of_every(verb)
        return every_foreseen(verb, items, unreadable)

    def suspend(self, author: str, expect: str | None = None) -> BulkDone:
        """Suspend every running supervisor."""
        return self._each(
            OperationKind.SUSPEND,
            expect,
            lambda each, judge: self.service.suspend(each, author, judge=judge),
        )

    def resume(self, author: str, expect: str | None = None) -> BulkDone:
        """Resume every suspended supervisor."""
        return self._each(
            OperationKind.RESUME,
            expect,
            lambda each, judge: self.service.resume(each, author, judge=judge),
        )

    def terminate(self, author: str, expect: str | None = None) -> BulkDone:
        """End every supervisor."""
        return self._each(
            OperationKind.TERMINATE,
            expect,
            lambda each, judge: self.service.terminate(each, author, judge=judge),
        )

    def _each(self, verb: OperationKind, expect: str | None, change: _Change) -> BulkDone:
        self.service.require_leader()  # also where there is nothing to change
        changed, left = [], []
        for supervisor_id, digest in self._wanted(verb, expect).items():
            try:
                change(supervisor_id, self.foresight.judge_version(verb, supervisor_id, digest))
            except (AlreadyInState, SpecUnreadable, SupervisorNotFound, PreviewOutdated):
                left.append(supervisor_id)
                continue
            changed.append(supervisor_id)
        return BulkDone(tuple(changed), () if expect is None else tuple(left))

    def _wanted(self, verb: OperationKind, expect: str | None) -> dict[str, str | None]:
        """Return the ids, each with the digest of what may be done to it; None: whatever it is."""
        if expect is None:
            return dict.fromkeys(self.service.supervisor_ids())
        now = self.foresee(verb)
        hold_against(expect, now)
        return {item.subject: item.digest for item in now.items or ()}
