"""The reading progress and lag of a supervisor, from the last reports in one snapshot; pure."""

from supervisor.core.model.rows import Task
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.rules.bounds import clipped
from tasks.contract.messages import TaskReport
from tasks.contract.offsets import Offsets, TopicPartition


def report_of(seen: Observed, task: Task) -> TaskReport | None:
    """Return the last report of a task's worker about the task."""
    found = (w.reports.get(task.id) for w in seen.workers if w.id == task.worker_id)
    return next(found, None)


def reports_by_range(seen: Observed) -> dict[str, list[TaskReport]]:
    """Return generation -> the last reports about its tasks; without those of no report."""
    reports: dict[str, list[TaskReport]] = {}
    for task in seen.tasks:
        if (report := report_of(seen, task)) is not None:
            reports.setdefault(task.generation_id, []).append(report)
    return reports


def best_position(seen: Observed) -> dict[TopicPartition, int]:
    """Return partition -> the position of its best reader."""
    positions = {p: row.next_offset for p, row in seen.committed.items()}
    reports = reports_by_range(seen)
    for generation in seen.generations:  # by ordinal: a successor's start is its predecessor's end
        positions |= generation.start if generation.end is None else generation.end
        for report in reports.get(generation.id, ()) if generation.open else ():
            positions |= {p: max(at, positions.get(p, at)) for p, at in report.position.items()}
    return positions


def lag_by_partition(seen: Observed) -> dict[TopicPartition, int]:
    """Return partition -> the records between its best reader and the last stable offset."""
    stable = readable(seen)
    return {
        p: max(0, stable[p] - at) for p, at in sorted(best_position(seen).items()) if p in stable
    }


def readable(seen: Observed) -> Offsets:
    """Return the offsets up to which a supervisor would read now.

    Records beyond the bounds of a bounded supervisor are no lag.  Where it has read all that it was
    to read, its end is known to be readable, whether or not anybody has looked at the log.
    """
    spec = seen.current.spec
    ends = (None if spec is None else spec.io_config.ends) or {}
    read = {p: end for p, end in ends.items() if p in seen.committed}
    at_end = {p: end for p, end in read.items() if seen.committed[p].next_offset == end}
    return at_end | clipped(seen.stream.stable, ends or None)
