"""What a run with trouble in the way of its reports has to show, judged from what was seen."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

__all__ = ["SeenRun"]


@dataclass(frozen=True)
class SeenRun:
    """A run as it was seen at its end."""

    in_topic: Counter[str]
    in_table: Counter[str]
    """Id of a record -> how often the topic has it, and the table."""
    ended: Mapping[str, str]
    """Task -> its status, of those that have ended."""
    caught_up: bool
    """Whether all was read while the trouble lasted."""
    results: Mapping[str, Collection[str | None]] = field(default_factory=dict)
    """Task -> the statuses of its results in the store."""
    reports: Counter[str] = field(default_factory=Counter)
    """Task -> its reports in the store."""
    whole_logs: Collection[str] = ()
    """Tasks of which the store has the whole log."""
    killed: Collection[str] = ()
    """Tasks whose worker was killed: they may have ended without a word."""

    def faults_of_ingestion(self) -> list[str]:
        """Return what the tasks have noticed of the trouble; none: nothing."""
        lost, more = self.in_topic - self.in_table, self.in_table - self.in_topic
        failed = [task for task, status in self.ended.items() if status != "SUCCESS"]
        return [
            *([f"{lost.total()} records are lost"] if lost else []),
            *([f"{more.total()} records are there too often"] if more else []),
            *(f"{task} has failed" for task in sorted(set(failed) - set(self.killed))),
            *([] if self.ended else ["no task has ended"]),
            *([] if self.caught_up else ["it was behind while the trouble lasted"]),
        ]

    def faults_of_reports(self) -> list[str]:
        """Return what is not in the store, or twice; none: each task's end and log is."""
        return [fault for task in sorted(self.ended) for fault in self._of(task)]

    def _of(self, task: str) -> list[str]:
        results, reports = list(self.results.get(task, ())), self.reports[task]
        may_lack = task in self.killed and results in ([], [None]) and not reports
        faults = []
        # A task that is wanted no more before its end does not know how that was.
        if not may_lack and results not in ([self.ended[task]], [None]):
            faults.append(f"{task} ended {self.ended[task]}, and its results say {results}")
        if not may_lack and reports != 1:
            faults.append(f"{task} has {reports} reports")
        if task not in self.whole_logs:
            faults.append(f"{task} has no whole log")
        return faults
