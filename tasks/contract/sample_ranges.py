"""Which offsets a sample reads: some records of each partition, the first or the last ones.  Pure.

Offsets are no records: a compacted topic, or one that is written in transactions, has fewer.  A
sample that finds too few reads a wider part.
"""

from tasks.contract.offsets import Offsets, TopicPartition

PARTITIONS_MAX = 32
"""A sample reads no more partitions: each costs a connection."""
_WIDENINGS = (1, 16, 256)


def parts(
    earliest: Offsets, latest: Offsets, rows: int, *, newest: bool
) -> list[tuple[Offsets, Offsets]]:
    """Return ranges to try in turn, each `[start, end)`, wider and wider; none: there is nothing.

    The first is of at most `rows` offsets, spread evenly over partitions that have some.
    """
    found: list[tuple[Offsets, Offsets]] = []
    chosen = _chosen({p: latest[p] - earliest[p] for p in earliest})
    for factor in _WIDENINGS:
        shares = _shares(chosen, rows * factor)
        if not shares:
            break
        start = {p: latest[p] - n if newest else earliest[p] for p, n in shares.items()}
        part = start, {p: start[p] + n for p, n in shares.items()}
        if part in found:
            break
        found.append(part)
    return found


def _chosen(held: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Return partitions that hold something: all, or `PARTITIONS_MAX` evenly picked ones."""
    filled = sorted(p for p, number in held.items() if number > 0)
    count = min(len(filled), PARTITIONS_MAX)
    return {p: held[p] for p in (filled[n * len(filled) // count] for n in range(count))}


def _shares(held: dict[TopicPartition, int], rows: int) -> dict[TopicPartition, int]:
    """Divide `rows` among partitions; what one does not have, the others give."""
    shares: dict[TopicPartition, int] = {}
    left = rows
    for place, partition in enumerate(sorted(held, key=lambda p: (held[p], p))):
        share = min(held[partition], -(-left // (len(held) - place)))
        if share:
            shares[partition] = share
            left -= share
    return shares
