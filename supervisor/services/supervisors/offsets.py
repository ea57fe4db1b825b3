"""Look-ups of offsets by a time, a place in the log and a shift: what a reset could go on at."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.planning.wished_offsets import (
    AtTime,
    OffsetWish,
    TimedOffsets,
    wished_offsets,
)
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.store import Store
from supervisor.services.supervisors.admission import existing
from supervisor.views.supervisors.resets import OffsetsAt, offsets_at


@dataclass(frozen=True)
class OffsetLookups:
    """Asks Kafka for offsets on behalf of people; one instance per process."""

    store: Store
    look: Callable[[SupervisorSpec, datetime | None], TimedOffsets]
    """Blocks for some seconds at most; with a time, it finds the record of each partition."""

    def find(self, supervisor_id: str, wish: OffsetWish) -> OffsetsAt:
        """Return the offset of each partition; changes nothing.

        Raises:
            SupervisorNotFound: never stored, or terminated.
            SourceUnreadable: its topics cannot be read.
            TooManyLooks: others look at topics already, as many as may at once.
            LeaseLost: this overlord does not lead.
        """
        with self.store.reading() as tx:
            _, spec = existing(tx, supervisor_id)
        seen = self.look(spec, wish.begin.at if isinstance(wish.begin, AtTime) else None)
        with self.store.reading() as tx:  # no transaction is open while Kafka is asked
            stored = tx.offsets.of(supervisor_id)
        return offsets_at(spec, stored, wished_offsets(wish, spec, stored, seen))
