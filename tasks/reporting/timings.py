"""Timings of a task in its records; milliseconds, of the present life of its worker."""

from tasks.contract.wire import Whole, Wire

__all__ = ["MergeTiming", "PauseTiming", "PublishTiming", "TaskTimings"]


class PauseTiming(Wire):
    """Pauses of a task, as for a handoff."""

    count: Whole = 0
    ms: Whole = 0
    """Of all of them."""
    longest_ms: Whole = 0


class MergeTiming(Wire):
    """Merges of a task's batches into its files; one that failed is done again."""

    count: Whole = 0
    ms: Whole = 0


class PublishTiming(Wire):
    """The way from the merged files to the answer, with the wait for the task's turn."""

    ms: Whole = 0


class TaskTimings(Wire):
    """How long the stages of a task took; one that goes on counts up to the record."""

    pauses: PauseTiming = PauseTiming()
    merge: MergeTiming = MergeTiming()
    publish: PublishTiming = PublishTiming()
