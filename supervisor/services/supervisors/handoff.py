"""Early handoff: a stored request, which the next pass carries out before the handoff is due."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.core.history.lifecycle_events import EventKind, by_author, generation_event
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import AuditEntry, Generation, GenerationState
from supervisor.core.values.errors import SupervisorNotFound, UnknownGroups
from supervisor.ports.store import Clock, Store, Transaction


@dataclass(frozen=True)
class HandoffRequests:
    """The handoff verb; one instance per process, safe to call from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop

    def ask(self, supervisor_id: str, groups: Sequence[int] | None, author: str) -> tuple[str, ...]:
        """Call `request`, and return only the ids of the generations."""
        return self.request(supervisor_id, groups, author).ranges

    def request(self, supervisor_id: str, groups: Sequence[int] | None, author: str) -> Operation:
        """Request that these groups, or all (None), hand off now and publish what they have read.

        Returns the operation with the affected generations: not groups that hand off already, and
        not those that have read nothing.  The next pass begins the handoff.

        Raises:
            SupervisorNotFound: the supervisor was never stored, or is terminated.
            UnknownGroups: some groups do not exist; nothing was requested.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.leadership.term()) as tx:
            newest = tx.specs.newest(supervisor_id)
            if newest is None or newest.spec is None:
                raise SupervisorNotFound(supervisor_id)
            live = tx.generations.live(supervisor_id)
            known = {generation.group for generation in live}
            wanted = known if groups is None else set(groups)
            if wanted - known:
                raise UnknownGroups(supervisor_id, wanted - known, known)
            why = f"its handoff was asked for by {author}"
            generation_ids = tuple(
                generation.id
                for generation in live
                if generation.group in wanted and generation.state is GenerationState.READING
                if tx.generations.ask_handoff(generation.id, why)
            )
            detail = {
                "groups": ", ".join(map(str, sorted(wanted))),
                "asked": ", ".join(generation_ids),
            }
            tx.audit.write(AuditEntry(now, author, "ask-handoff", supervisor_id, detail))
            _record_requests(tx, [g for g in live if g.id in generation_ids], now, author)
            wish = Operation(
                supervisor_id, OperationKind.HANDOFF, author, now, ranges=generation_ids
            )
            operation = tx.operations.add(wish)
        self.loop.wake(supervisor_id)
        return operation


def _record_requests(
    tx: Transaction, generations: Sequence[Generation], now: datetime, author: str
) -> None:
    for generation in generations:
        by = by_author(author)
        event = generation_event(generation, EventKind.HANDOFF_REQUESTED, now, **by)
        tx.happenings.record(event)
