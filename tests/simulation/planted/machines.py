"""Faults of machines: slots, journals on disks, rejects files, processes that are asked to end."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from supervisor.control import observe, reconcile
from supervisor.control.leadership import Leadership
from supervisor.control.observe import Sources
from supervisor.core.model.rows import Publication, Segment
from supervisor.core.planning.actions import StartTask
from supervisor.core.planning.observed import Observed
from supervisor.metadata.repositories.segments import SqlSegments
from supervisor.ports.store import Transaction
from tasks import durable_files
from tasks.durable_files import OpenFile
from tasks.machine.events import DropTail, Effect
from tasks.worker.roster import Roster
from tasks.worker.runner import TaskRunner
from tests.simulation.planted.patches import Function, Mutant, Patches
from tests.simulation.processes import engine


def others_slots_ignored(patches: Patches) -> None:
    def make(observed: Function) -> object:
        def own(
            supervisor_id: str, sources: Sources, now: datetime, *, look: bool = True
        ) -> Observed | None:
            seen: Observed | None = observed(supervisor_id, sources, now, look=look)
            if seen is None:
                return None
            reading = {g.id for g in seen.generations if g.open}
            mine = Counter(t.worker_id for t in seen.tasks if t.generation_id in reading)
            workers = tuple(replace(w, used_slots=mine[w.id]) for w in seen.workers)
            return replace(seen, workers=workers)

        return own

    patches.function(observe, "observe", make)
    _unchecked(patches)


def _unchecked(patches: Patches) -> None:
    def unchecked(action: StartTask, seen: Observed, tx: Transaction) -> bool:
        del action, seen, tx
        return True

    patches.function(reconcile, "_has_slot", lambda _: unchecked)


def journal_not_synced(patches: Patches) -> None:
    def hasty(file: OpenFile, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]

    patches.function(durable_files, "write_all", lambda _: hasty)


def files_before_the_journal(patches: Patches) -> None:
    def make(done: Function) -> object:
        def files_first(self: TaskRunner, effect: Effect) -> object:
            if isinstance(effect, DropTail):
                self._drop(effect.entries)
            return done(self, effect)

        return files_first

    patches.method(TaskRunner, "_done", make)


def rejects_left_out(patches: Patches) -> None:
    def make(add: Function) -> object:
        def without(self: SqlSegments, publication: Publication, files: Sequence[Segment]) -> None:
            add(self, replace(publication, rejects=None), files)

        return without

    patches.method(SqlSegments, "add", make)


def rejects_before_fsync(patches: Patches) -> None:
    def make(sync: Function) -> object:
        def others(self: engine.SimEngine, paths: Any) -> None:  # noqa: ANN401
            sync(self, [path for path in paths if "rejects" not in path])

        return others

    patches.method(engine.SimEngine, "sync", make)


def graceful_end_drops_a_batch(patches: Patches) -> None:
    def make(close: Function) -> object:
        def tidy(self: Roster, cancel_after_s: float) -> None:
            for runner in self.runners:
                if runner.state.entries:
                    with suppress(OSError):
                        runner._kept_journal().drop_tail(1)
            close(self, cancel_after_s)

        return tidy

    patches.method(Roster, "close", make)


def kept_tasks_forgotten(patches: Patches) -> None:
    def make(apply: Function) -> object:
        def listed_alone(self: Roster, desired: Any, kept: Any = ()) -> None:  # noqa: ANN401
            del kept
            apply(self, desired)

        return listed_alone

    patches.method(Roster, "apply", make)


def lease_not_released(patches: Patches) -> None:
    def keep(self: Leadership, term: int) -> None:
        del self, term

    patches.method(Leadership, "_release", lambda _: keep)


def by_its_program(_: Patches) -> None:
    """Do nothing: the program that the test starts plants what the environment names."""


MUTANTS = (
    Mutant(
        "others-slots-ignored",
        "P18",
        "a supervisor counts the slots that its own tasks use, and no others",
        others_slots_ignored,
    ),
    Mutant(
        "journal-not-synced",
        "P20",
        "lines of a journal are written, and not synced",
        journal_not_synced,
    ),
    Mutant(
        "files-before-the-journal",
        "P14, P20",
        "the files of a dropped tail go before the journal is cut",
        files_before_the_journal,
        covered_by="rare: few processes end between the deletion of a tail's files and its cut",
        direct="tests/tasks/worker/test_runner.py"
        "::test_the_journal_is_cut_before_the_files_of_its_tail_go",
    ),
    Mutant(
        "rejects-left-out",
        "P25",
        "a range is published without its rejects file",
        rejects_left_out,
    ),
    Mutant(
        "rejects-before-fsync",
        "P20, P25",
        "a rejects file is journaled and published before it is on disk",
        rejects_before_fsync,
        stand_in="the sync of files",
        real=by_its_program,
        direct="tests/tasks/worker/crashes/test_durability.py"
        "::test_what_is_relied_upon_is_durable_at_that_moment",
    ),
    Mutant(
        "graceful-end-drops-a-batch",
        "P20",
        "a worker that is asked to end takes the newest batch of each task off its journal",
        graceful_end_drops_a_batch,
    ),
    Mutant(
        "kept-tasks-forgotten",
        "P20",
        "a worker ends the tasks whose spec the overlord cannot read, with their journals",
        kept_tasks_forgotten,
    ),
    Mutant(
        "lease-not-released",
        "P2",
        "an overlord that is asked to end keeps its lease until it runs out",
        lease_not_released,
    ),
)
