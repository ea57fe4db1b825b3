"""P18: slots are of a worker, whoever uses them: no more tasks read there than it has slots.

Counted over all supervisors.  A task whose range has a fixed end finishes, and needs none.
"""

from collections import Counter
from collections.abc import Iterator

from tests.simulation.checkers.database import OPEN, Rows
from tests.simulation.checkers.ledger import Watched


def no_worker_reads_beyond_its_slots(now: Rows, world: Watched) -> Iterator[str]:
    """Count the tasks of open ranges per worker."""
    slots = dict(world.store_connection.execute("SELECT id, slots FROM workers"))
    reading = Counter(
        task.worker
        for task in now.tasks.values()
        if task.ended_at is None
        and (generation := now.generations.get(task.generation)) is not None
        and generation.state in OPEN
    )
    for worker, number in sorted(reading.items()):
        if number > slots.get(worker, 0):
            yield f"P18 {worker} has {slots.get(worker, 0)} slots, and {number} tasks read there"
