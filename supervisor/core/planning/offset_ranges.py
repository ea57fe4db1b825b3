"""Chains of offset ranges: the end of a chain, and a range in words."""

from collections.abc import Iterable

from supervisor.core.model.rows import Generation
from tasks.contract.offsets import TopicPartition


def chain_end(live: Iterable[Generation], partition: TopicPartition, committed: int) -> int:
    """Return the end of the newest of live ranges, given by ordinal, else `committed` (P8)."""
    ends = [g.end[partition] for g in live if g.end is not None and partition in g.end]
    return ends[-1] if ends else committed


def format_range(generation: Generation) -> str:
    """Describe the offsets of a generation, per partition."""
    end = generation.end
    return ", ".join(
        f"{p} from {at}" + ("" if end is None else f" to {end[p]}")
        for p, at in sorted(generation.start.items())
    )
