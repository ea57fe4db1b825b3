"""Where reading begins, and what happens when Kafka no longer holds what should be read."""

from collections.abc import Iterator

from supervisor.core.actions import CommitInitialOffsets
from supervisor.core.view import View


def commit_initial_offsets(view: View) -> Iterator[CommitInitialOffsets]:
    """Store where reading begins before the first task starts, or a new partition joins (P10)."""
    seen, spec = view.seen, view.spec
    if spec is None or not seen.stream.known:
        return
    topic = spec.io_config.topic
    stored = {p for p in seen.committed if p.topic == topic}
    found = {p for p in seen.stream.earliest if p.topic == topic}
    topic_id = seen.stream.topic_ids[topic]
    if not stored:
        earliest = spec.io_config.use_earliest_offset
        source = seen.stream.earliest if earliest else seen.stream.stable
        why = f"no stored offsets: reading begins at the {'earliest' if earliest else 'latest'}"
        yield CommitInitialOffsets(topic, topic_id, {p: source[p] for p in sorted(found)}, why)
        return
    new = {p for p in found - stored if p.partition >= len(stored)}
    if new and all(seen.committed[p].topic_id == topic_id for p in stored):
        offsets = {p: seen.stream.earliest[p] for p in sorted(new)}
        why = f"{len(new)} new partition(s): a partition that joins later starts at its earliest"
        yield CommitInitialOffsets(topic, topic_id, offsets, why)
