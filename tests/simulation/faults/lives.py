"""What a run has of the life of tables: exports, compaction, retention, the deletion of files.

It is drawn from a stream of its own: the other parameters of a seed stay as they were.
"""

from dataclasses import dataclass
from random import Random

SHARE = 1 / 5
"""The share of runs whose tables live; in the others published files only become more."""
FORMATS = ("delta", "iceberg")
VERBS = (
    "mark unused",
    "mark inputs unused",
    "change ones mind",
    "mark used",
    "set retention",
    "drop retention",
    "compact now",
    "cancel a compaction",
    "set compaction",
    "drop compaction",
    "switch exports",
)
"""What users ask for at moments of their own."""
TROUBLES = (
    "lakes away",
    "warehouse away",
    "deletions fail",
    "compaction fails",
    "compaction stuck",
    "worker ends in a compaction",
)
"""What the outside does to the life of tables at such moments."""
TARGETS = (
    "lake:opened",
    "export:decided",
    "lake:committed",
    "export:committed",
    "inside export-delta",
    "after export-iceberg",
    "inside segments",
    "after segments",
    "file:deleted",
    "after segment-files",
    "inside swap",
    "compaction:in-transaction",
    "compaction:committed",
    "swap:answer",
    "inside retention",
    "after retention",
    "inside compaction",
    "after compaction",
    "compact:written",
    "compact:published",
)
"""Ends of the names of crash points of it; each run prefers a few."""


@dataclass(frozen=True)
class Lives:
    """The parameters of the life of a run's tables."""

    runs: bool = False
    exports: tuple[str, ...] = ()
    """The formats that the spec names at first."""
    grace_s: float = 8.0
    """From a file's removal out of its table to its deletion."""
    rule_rows: int | None = None
    """Rows of a compacted file by the table's rule; None: there is no rule at first."""
    compact_s: float = 1.0
    """How long a compaction takes, on average."""
    keep_s: int = 3_600
    """How long the rows of a table are kept once a user says so."""
    skew_s: float | None = None
    """So far wrong the clocks of some overlords are; None: as in other runs."""
    lake_fails: float = 0.0
    """Probability that a call to an exported table fails, and that a commit is not answered."""
    waits: float = 0.0
    """Probability of a stop at a step of it."""
    moments: tuple[str, ...] = ()
    between_s: float = 4.0
    """Mean time between two moments."""
    targets: tuple[str, ...] = ()


def draw_lives(random: Random) -> Lives:
    """Draw whether the tables of a run live, and how."""
    if random.random() >= SHARE:
        return Lives()
    moments = [name for name in VERBS if random.random() < 0.6]
    moments += [name for name in TROUBLES if random.random() < 0.4]
    return Lives(
        runs=True,
        exports=tuple(sorted(random.sample(FORMATS, random.choice([0, 1, 1, 2])))),
        grace_s=random.choice([4.0, 8.0, 15.0]),
        rule_rows=random.choice([None, 60, 1_000, 100_000]),
        compact_s=random.choice([0.3, 2.0, 6.0]),
        keep_s=random.choice([3_600, 3_620, 3_650]),
        skew_s=random.choice([0.0, 0.0, None]),
        lake_fails=random.choice([0.0, 0.05, 0.2]),
        waits=random.choice([0.0, 0.03, 0.1]),
        moments=("mark unused", "mark inputs unused", "change ones mind", *moments),
        between_s=random.choice([2.0, 4.0]),
        targets=tuple(random.sample(TARGETS, random.randint(0, 3))),
    )
