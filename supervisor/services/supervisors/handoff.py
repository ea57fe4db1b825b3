"""Handoff before it is due: a wish on the rows, fulfilled by the next pass whatever is due."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.core.history.lifecycle_events import EventKind, generation_event
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import AuditEntry, Generation, GenerationState
from supervisor.core.values.errors import SupervisorNotFound, UnknownGroups
from supervisor.ports.store import Clock, Store, Transaction


@dataclass(frozen=True)
class HandoffRequests:
    """The verb; one instance per process, safe to call from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop

    def ask(self, supervisor_id: str, groups: Sequence[int] | None, author: str) -> tuple[str, ...]:
        """Do as `request`, and return the generations alone."""
        return self.request(supervisor_id, groups, author).ranges

    def request(self, supervisor_id: str, groups: Sequence[int] | None, author: str) -> Operation:
        """Ask that these groups, or all (None), publish now what they have read.

        Returns the operation; its ranges are the generations that will: a group that hands off
        already has none, and one that has read nothing goes on.  The next pass begins it.

        Raises:
            SupervisorNotFound: never stored, or terminated.
            UnknownGroups: nothing is asked for then.
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
        event = generation_event(generation, EventKind.HANDOFF_REQUESTED, now, author=author)
        tx.happenings.record(event)
