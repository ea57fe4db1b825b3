"""Offset ranges of a sample: the first or the last records of each partition.  Pure.

A compacted topic, or a topic that is written in transactions, has fewer records than offsets.  A
sample that finds too few records therefore reads a wider range.
"""

from tasks.contract.offsets import Offsets, TopicPartition

PARTITIONS_MAX = 32
"""Most partitions that a sample reads, because each partition costs a connection."""
_WIDENINGS = (1, 16, 256)


def parts(
    earliest: Offsets, latest: Offsets, rows: int, *, newest: bool
) -> list[tuple[Offsets, Offsets]]:
    """Return the ranges `[start, end)` to try in turn, each wider than the one before.

    The first range has at most `rows` offsets, spread evenly over the partitions that are not
    empty.  The list is empty if all partitions are.
    """
    ranges: list[tuple[Offsets, Offsets]] = []
    chosen = _chosen({p: latest[p] - earliest[p] for p in earliest})
    for factor in _WIDENINGS:
        shares = _shares(chosen, rows * factor)
        if not shares:
            break
        start = {p: latest[p] - n if newest else earliest[p] for p, n in shares.items()}
        part = start, {p: start[p] + n for p, n in shares.items()}
        if part in ranges:
            break
        ranges.append(part)
    return ranges


def _chosen(held: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Return the partitions that are not empty: all, or `PARTITIONS_MAX` evenly picked ones."""
    filled = sorted(p for p, number in held.items() if number > 0)
    count = min(len(filled), PARTITIONS_MAX)
    return {p: held[p] for p in (filled[n * len(filled) // count] for n in range(count))}


def _shares(held: dict[TopicPartition, int], rows: int) -> dict[TopicPartition, int]:
    """Divide `rows` among partitions; if a partition has too few offsets, the others give more."""
    shares: dict[TopicPartition, int] = {}
    left = rows
    for place, partition in enumerate(sorted(held, key=lambda p: (held[p], p))):
        share = min(held[partition], -(-left // (len(held) - place)))
        if share:
            shares[partition] = share
            left -= share
    return shares
