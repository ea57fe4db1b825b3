"""Early handoff: a stored request, which the next pass carries out before the handoff is due."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.core.history.lifecycle_events import EventKind, by_author, generation_event
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import AuditEntry, Generation, GenerationState
from supervisor.core.values.errors import SupervisorNotFound, UnknownGroups
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction


@dataclass(frozen=True)
class MeantRanges:
    """The groups that a request names, and their ranges."""

    groups: frozenset[int]
    ranges: tuple[Generation, ...]
    """Those that hand off: not those that do already."""
    live: tuple[Generation, ...]
    """All of the supervisor, by ordinal."""


def _any(_: Transaction, __: MeantRanges) -> None:
    """Accept whatever is handed off."""


@dataclass(frozen=True)
class HandoffRequests:
    """The handoff verb; one instance per process, safe to call from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    def ask(self, supervisor_id: str, groups: Sequence[int] | None, author: str) -> tuple[str, ...]:
        """Call `request`, and return only the ids of the generations."""
        return self.request(supervisor_id, groups, author).ranges

    def request(
        self,
        supervisor_id: str,
        groups: Sequence[int] | None,
        author: str,
        judge: Callable[[Transaction, MeantRanges], None] = _any,
    ) -> Operation:
        """Request that these groups, or all (None), hand off now and publish what they have read.

        Returns the operation with the affected generations: not groups that hand off already, and
        not those that have read nothing.  The next pass begins the handoff.  `judge` is called with
        them first, and raises if they are not what is wanted.

        Raises:
            SupervisorNotFound: the supervisor was never stored, or is terminated.
            UnknownGroups: some groups do not exist; nothing was requested.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.leadership.term()) as tx:
            meant = meant_by(tx, supervisor_id, groups)
            judge(tx, meant)
            why = f"its handoff was asked for by {author}"
            generation_ids = tuple(
                generation.id
                for generation in meant.ranges
                if tx.generations.ask_handoff(generation.id, why)
            )
            detail = {
                "groups": ", ".join(map(str, sorted(meant.groups))),
                "asked": ", ".join(generation_ids),
            }
            tx.audit.write(AuditEntry(now, author, "ask-handoff", supervisor_id, detail))
            _record_requests(tx, [g for g in meant.ranges if g.id in generation_ids], now, author)
            wish = Operation(
                supervisor_id, OperationKind.HANDOFF, author, now, ranges=generation_ids
            )
            operation = tx.operations.add(wish)
            self.failpoint("ask-handoff:in-transaction")
        self.failpoint("ask-handoff:committed")
        self.loop.wake(supervisor_id)
        return operation


def meant_by(tx: Transaction, supervisor_id: str, groups: Collection[int] | None) -> MeantRanges:
    """Return the ranges that a request is about; None: of all groups.

    Raises:
        SupervisorNotFound: the supervisor was never stored, or is terminated.
        UnknownGroups: some groups do not exist.
    """
    newest = tx.specs.newest(supervisor_id)
    if newest is None or newest.spec is None:
        raise SupervisorNotFound(supervisor_id)
    live = tx.generations.live(supervisor_id)
    known = {generation.group for generation in live}
    wanted = known if groups is None else set(groups)
    if wanted - known:
        raise UnknownGroups(supervisor_id, wanted - known, known)
    reading = (g for g in live if g.group in wanted and g.state is GenerationState.READING)
    return MeantRanges(frozenset(wanted), tuple(reading), tuple(live))


def _record_requests(
    tx: Transaction, generations: Sequence[Generation], now: datetime, author: str
) -> None:
    for generation in generations:
        by = by_author(author)
        event = generation_event(generation, EventKind.HANDOFF_REQUESTED, now, **by)
        tx.happenings.record(event)
