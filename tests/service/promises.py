"""What is promised at any time, told from the rows alone."""

from collections import Counter

from supervisor.core.model import GenerationState
from supervisor.ports import Store, Transaction
from tasks.offsets import TopicPartition
from tests.core.snapshots import TOPIC


def assert_promises(store: Store, supervisor_id: str = TOPIC) -> None:
    """Check the rows of one supervisor.

    Raises:
        AssertionError: a gap, a record twice, two readers of one partition, a pause for ever.
    """
    with store.reading() as tx:
        for partition, row in tx.offsets.of(supervisor_id).items():
            reached = _published(tx, supervisor_id, partition, row.first_offset)
            assert reached == row.next_offset, f"{partition}: published {reached}, committed {row}"
            _assert_chain(tx, supervisor_id, partition, row.next_offset)
        replicas = Counter((t.generation_id, t.replica) for t in tx.tasks.active(supervisor_id))
        assert all(number == 1 for number in replicas.values()), f"a replica twice: {replicas}"
        for generation in tx.generations.live(supervisor_id):
            pausing = generation.state is GenerationState.PAUSING
            assert generation.state is GenerationState.PUBLISHING or pausing == (
                generation.paused_at is not None
            ), f"a pause that does not know when it began: {generation}"


def _published(tx: Transaction, supervisor_id: str, partition: TopicPartition, first: int) -> int:
    """Return where the published ranges of a partition end; they tile it, and so do the files."""
    ranges = [
        (p.start[partition], p.end[partition])
        for p in tx.segments.publications(supervisor_id)
        if partition in p.start
    ]
    spans = [
        (span.first, span.last + 1)
        for segment in tx.segments.of_supervisor(supervisor_id)
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


def _assert_chain(
    tx: Transaction, supervisor_id: str, partition: TopicPartition, committed: int
) -> None:
    """Each live range begins where the one before it ends; at most the last one is open."""
    reached: int | None = committed
    for generation in tx.generations.live(supervisor_id):
        if partition not in generation.start:
            continue
        assert reached is not None, f"two open generations read {partition}: {generation}"
        assert generation.start[partition] == reached, f"{partition}: {generation} is not at its"
        reached = None if generation.end is None else generation.end[partition]
        assert generation.open == (reached is None), f"{generation}: open with an end, or not"
