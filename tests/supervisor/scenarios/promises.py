"""What is promised at any time, told from the rows alone."""

from collections import Counter
from collections.abc import Sequence

from supervisor.core.model.rows import Generation, GenerationState, Publication, Segment
from supervisor.ports.store import Store
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import TOPIC


def assert_promises(store: Store, supervisor_id: str = TOPIC) -> None:
    """Check the rows of one supervisor.

    Raises:
        AssertionError: a gap, a record twice, two readers of one partition, a pause for ever.
    """
    with store.reading() as tx:
        offsets = tx.offsets.of(supervisor_id)
        publications = tx.segments.publications(supervisor_id)
        segments = tx.segments.of_supervisor(supervisor_id)
        live = tx.generations.live(supervisor_id)
        active = tx.tasks.active(supervisor_id)
    for partition, row in offsets.items():
        reached = _published(publications, segments, partition, row.first_offset)
        assert reached == row.next_offset, f"{partition}: published {reached}, committed {row}"
        _assert_chain(live, partition, row.next_offset)
    replicas = Counter((t.generation_id, t.replica) for t in active)
    assert all(number == 1 for number in replicas.values()), f"a replica twice: {replicas}"
    for generation in live:
        pausing = generation.state is GenerationState.PAUSING
        assert generation.state is GenerationState.PUBLISHING or pausing == (
            generation.paused_at is not None
        ), f"a pause that does not know when it began: {generation}"


def _published(
    publications: Sequence[Publication],
    segments: Sequence[Segment],
    partition: TopicPartition,
    first: int,
) -> int:
    """Return where the published ranges of a partition end; they tile it, and so do the files."""
    ranges = [(p.start[partition], p.end[partition]) for p in publications if partition in p.start]
    spans = [
        (span.first, span.last + 1)
        for segment in segments
        for span in segment.file.spans
        if (span.topic, span.partition) == partition
    ]
    reached = _end_of_tiles(first, ranges)
    assert _end_of_tiles(first, spans) == reached, "files and ranges differ"
    return reached


def _end_of_tiles(first: int, ranges: list[tuple[int, int]]) -> int:
    reached = first
    for start, end in sorted(ranges):
        assert start == reached <= end, f"a gap or a record twice at {reached}: {sorted(ranges)}"
        reached = end
    return reached


def _assert_chain(live: Sequence[Generation], partition: TopicPartition, committed: int) -> None:
    """Each live range begins where the one before it ends; at most the last one is open."""
    reached: int | None = committed
    for generation in live:
        if partition not in generation.start:
            continue
        assert reached is not None, f"two open generations read {partition}: {generation}"
        assert generation.start[partition] == reached, f"{partition}: {generation} is not at its"
        reached = None if generation.end is None else generation.end[partition]
        assert generation.open == (reached is None), f"{generation}: open with an end, or not"
