"""How far the readers of a supervisor are, as they last reported; pure, of one snapshot."""

from supervisor.core.model.rows import Task
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.rules.bounds import clipped
from tasks.contract.messages import TaskReport
from tasks.contract.offsets import Offsets, TopicPartition


def report_of(seen: Observed, task: Task) -> TaskReport | None:
    """Return what a task's worker last said of it."""
    found = (w.reports.get(task.id) for w in seen.workers if w.id == task.worker_id)
    return next(found, None)


def best_position(seen: Observed) -> dict[TopicPartition, int]:
    """Return how far the best reader of each partition is."""
    found = {p: row.next_offset for p, row in seen.committed.items()}
    for generation in seen.generations:  # by ordinal: a successor's start is its predecessor's end
        found |= generation.start if generation.end is None else generation.end
        for task in seen.tasks:
            report = report_of(seen, task)
            if task.generation_id == generation.id and generation.open and report is not None:
                found |= {p: max(at, found.get(p, at)) for p, at in report.position.items()}
    return found


def lag_by_partition(seen: Observed) -> dict[TopicPartition, int]:
    """Return how far the best reader of each partition is behind the last stable offset."""
    stable = readable(seen)
    return {
        p: max(0, stable[p] - at) for p, at in sorted(best_position(seen).items()) if p in stable
    }


def readable(seen: Observed) -> Offsets:
    """Return up to where a supervisor would read now: what lies beyond its bounds is no lag."""
    spec = seen.current.spec
    return clipped(seen.stream.stable, None if spec is None else spec.io_config.ends)
