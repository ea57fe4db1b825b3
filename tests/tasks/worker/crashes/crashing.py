"""A program: a task on a real disk that stands still at one point, to be killed there.

    python -m tests.tasks.worker.crashes.crashing FOLDER POINT       POINT: reading finishing
    merging waiting end

It tells on stderr each range that it reads, each merge, when it stands, and what it published.
"""

import sys
from pathlib import Path
from threading import Event

from tasks.contract.messages import PublishOutcome, TaskPhase
from tasks.ports import BatchJob, JournalEntry, MergeJob, MergeResult
from tests.tasks.memory import P0, MemoryOverlord, at, order
from tests.tasks.plain_engine import PlainEngine
from tests.tasks.worker.plain_site import PlainSite

READ, END = 30, 60


def say(*words: object) -> None:
    sys.stderr.write(" ".join(map(str, words)) + "\n")
    sys.stderr.flush()


class StandingEngine(PlainEngine):
    """Tells what it does and stands still at one point."""

    point = ""

    def read_batch(self, job: BatchJob) -> JournalEntry:
        say("read", job.start[P0], job.end[P0])
        if job.start[P0] >= READ:
            self._stand("finishing" if job.finishing else "reading")
        return super().read_batch(job)

    def merge(self, job: MergeJob) -> MergeResult:
        say("merge", len(job.entries))
        merged = super().merge(job)
        self._stand("merging")
        return merged

    def _stand(self, point: str) -> None:
        if point == self.point:
            say("stands", point)
            Event().wait()


def main(folder: Path, point: str) -> None:
    """Go on from what is in the folder."""
    StandingEngine.point = point
    overlord = MemoryOverlord()
    if point == "waiting":
        overlord.outcome = PublishOutcome.WAIT_FOR_PREDECESSOR
    incarnation = 7 if point != "end" else 8
    site = PlainSite(
        folder,
        folder / "warehouse",
        overlord=overlord,
        incarnation=incarnation,
        engine=StandingEngine(folder / "warehouse"),
    )
    if site.runner.state.position == at(0):
        site.read_to(READ // 2)
        site.read_to(READ)
    if point != "reading":
        site.runner.deliver_order(order(2, end=at(END)))
    site.log.stable = at(END)
    if point == "waiting":
        site.until(lambda state: state.phase is TaskPhase.WAITING)
        say("stands waiting")
        Event().wait()
    site.until(lambda state: state.phase is TaskPhase.SUCCESS)
    [request] = overlord.published
    say("published", sum(segment.rows for segment in request.segments))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
