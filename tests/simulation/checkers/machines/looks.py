"""All that is judged of machines, for the two looks of `invariants`."""

from collections.abc import Iterator, Mapping

from tests.simulation.checkers.database import Publication, Rows
from tests.simulation.checkers.ledger import Ledger, Watched
from tests.simulation.checkers.machines.journals import journals_keep_what_they_acknowledged
from tests.simulation.checkers.machines.leaving import leases_are_released_by_who_leaves
from tests.simulation.checkers.machines.rejects import rejects_are_on_disk
from tests.simulation.checkers.machines.slots import no_worker_reads_beyond_its_slots


def at_rest(ledger: Ledger, now: Rows, world: Watched) -> Iterator[str]:
    """What the last event broke on the machines; the rows are as they were."""
    yield from journals_keep_what_they_acknowledged(ledger, now, world)


def after_commit(
    ledger: Ledger, now: Rows, world: Watched, new: Mapping[str, Publication]
) -> Iterator[str]:
    """What the last commit broke; `new`: publications of it."""
    yield from no_worker_reads_beyond_its_slots(now, world)
    yield from rejects_are_on_disk(ledger, now, world, new)
    yield from leases_are_released_by_who_leaves(ledger, world)
    yield from journals_keep_what_they_acknowledged(ledger, now, world)
