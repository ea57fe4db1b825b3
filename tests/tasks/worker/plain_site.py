"""One task on a real disk, without a JVM: the product's roster, runner, journal and engine."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.contract.messages import DesiredTask, Order, TaskPhase
from tasks.machine.pacing import Limits
from tasks.machine.state import TaskState
from tasks.worker.finishing_slots import FinishingSlots
from tasks.worker.journal import Journal, journals_below
from tasks.worker.options import WorkerOptions
from tasks.worker.roster import Roster
from tasks.worker.runner import TaskRunner, World
from tests.tasks.memory import DEADLINE_S, MemoryLog, MemoryOverlord, at, desired
from tests.tasks.plain_engine import PlainEngine

LIMITS = Limits(rows_first=1_000, poll_s=0.01, retry_first_s=0.02, retry_max_s=0.1)


class PlainSite:
    """A worker's folder and a warehouse with one running task in them; driven by `until`."""

    def __init__(
        self,
        data_dir: Path,
        warehouse: Path,
        *,
        overlord: MemoryOverlord,
        incarnation: int = 7,
        engine: PlainEngine | None = None,
    ) -> None:
        """Start `task-1`, or take it up if its journal is there."""
        self.log = MemoryLog(at(0), at(0))
        self.overlord = overlord
        self.warehouse = warehouse
        self.journals = journals_below(data_dir)
        self.world = World(
            engine or PlainEngine(warehouse, text_bytes=100),
            self.log,
            overlord,
            FinishingSlots(1),
            changed=lambda: None,
            fenced=lambda: None,
        )
        options = WorkerOptions("w", data_dir, str(warehouse), (), limits=LIMITS)
        self.roster = Roster(options, self.world, self.journals, incarnation)
        self.roster.apply([desired(taken_up="task-1" in self.journals.task_ids())])

    @property
    def runner(self) -> TaskRunner:
        """The task."""
        [runner] = self.roster.runners
        return runner

    def until(self, claim: Callable[[TaskState], bool]) -> TaskState:
        """Let time pass for the task until `claim` holds of it."""
        for _ in range(int(DEADLINE_S / 0.02)):
            if self.runner.wait_until(claim, 0.02):
                return self.runner.state
            self.runner.tick()
        raise AssertionError(self.runner.report())

    def read_to(self, offset: int) -> None:
        """Put records into the log up to `offset` and have them read."""
        self.log.stable = at(offset)
        self.until(lambda state: state.position == at(offset))

    def finish(self, order: Order) -> None:
        """Tell the end and have the task succeed."""
        self.runner.deliver_order(order)
        self.until(lambda state: state.phase is TaskPhase.SUCCESS)
        assert self.runner.join(DEADLINE_S), "the task did not end"

    def files(self) -> set[str]:
        """Return every data file of the table, by its path in the warehouse."""
        found = self.warehouse.rglob("*.parquet")
        return {path.relative_to(self.warehouse).as_posix() for path in found}


def copied_journal(data_dir: Path, task: DesiredTask) -> Journal:
    """Open a copy of a task's journal: to open it cuts off the line that the task is writing."""
    name = f"journal/{task.task_id}.jsonl"
    with TemporaryDirectory() as copy:
        journals = journals_below(Path(copy))
        (Path(copy) / name).write_bytes((data_dir / name).read_bytes())
        journal = journals.open(task)
    assert journal is not None
    return journal
