"""What a transaction may have changed of the desired state of workers.

    repository writes ─► adds a name ─► commit ─► the listener of `on_touched` hears all names

A name too many costs work.  A name too few would leave a worker with an old list until its answer
is looked up anew (`control/sync_answers.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Touched:
    """Names that a transaction has touched; each set is empty if nothing was."""

    supervisors: set[str] = field(default_factory=set)
    """Supervisors of which a spec, a range, a task or a committed offset was written."""
    workers: set[str] = field(default_factory=set)
    """Workers whose row was written, or that were given a task or a compaction, or lost one."""
    tables: set[str] = field(default_factory=set)
    """Tables of which a file was taken out or put back."""
    committed: bool = False
    unsure: bool = False
    """The commit had no answer: it was carried out, or it was not, or it takes effect later."""

    def add(self, other: "Touched") -> None:
        """Add the names of another transaction."""
        self.supervisors |= other.supervisors
        self.workers |= other.workers
        self.tables |= other.tables

    def __bool__(self) -> bool:
        """Whether anything was touched."""
        return bool(self.supervisors or self.workers or self.tables)


OnTouched = Callable[[Touched], None]
