"""A program: one task reads three batches, merges and publishes, on a real disk; a compaction.

    python -m tests.tasks.worker.crashes.durable FOLDER [RECORD] [PLANTED FAULT]

Publishing is a line in `FOLDER/published`, of what was compacted in `FOLDER/compacted`.  With
RECORD, a file, the interpreter's own calls are written there, for machines without strace.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.contract.ingest_spec import Column
from tasks.contract.messages import (
    CompactedFile,
    CompactionInput,
    DesiredCompaction,
    DesiredTask,
    PublishAnswer,
    PublishRequest,
)
from tasks.ingest import engine
from tasks.ingest.write import files, rejects
from tasks.ingest.write.files import Digest, Step, no_step
from tasks.ports import JournalEntry
from tasks.worker.compaction import Compactor
from tasks.worker.journal import Journal
from tests.tasks.memory import DEADLINE_S, MemoryOverlord, at, order
from tests.tasks.worker.plain_site import LIMITS, PlainSite
from tests.waiting import wait_until

Late = list[Callable[[], object]]


class _Published(MemoryOverlord):
    def __init__(self, folder: Path, late: Late) -> None:
        super().__init__()
        self._folder, self._late = folder, late

    def publish(self, task: DesiredTask, request: PublishRequest) -> PublishAnswer:
        self._note("published", request.to_json())
        return super().publish(task, request)

    def publish_compaction(self, order: DesiredCompaction, file: CompactedFile) -> PublishAnswer:
        self._note("compacted", file.to_json())
        return super().publish_compaction(order, file)

    def _note(self, name: str, text: str) -> None:
        with (self._folder / name).open("w") as file:
            file.write(text)
        while self._late:
            self._late.pop()()


# ---------------------------------------------------------------- planted faults


def put(where: object, name: str, new: object) -> None:
    """Replace a part of the product by another, in this process alone."""
    assert hasattr(where, name)
    setattr(where, name, new)


@contextmanager
def _without_fsync() -> Iterator[None]:
    real = os.fsync
    put(os, "fsync", lambda _: None)
    try:
        yield
    finally:
        put(os, "fsync", real)


def _late_files(late: Late, below: str) -> None:
    """Have files and folders whose folder's name starts so synced later, when it is too late."""
    sync_file, sync_folders = files.sync_file, files.sync_folders

    def without(path: Path, step: Step = no_step) -> Digest:
        if not path.parent.name.startswith(below):
            return sync_file(path, step)
        late.append(lambda: sync_file(path))
        with _without_fsync():
            return sync_file(path, step)

    def folders_without(folder: Path, warehouse: Path) -> None:
        if not folder.name.startswith(below):
            sync_folders(folder, warehouse)
        else:
            late.append(lambda: sync_folders(folder, warehouse))

    put(files, "sync_file", without)
    put(rejects, "sync_file", without)
    put(engine, "sync_folders", folders_without)


def _journal_before_fsync(late: Late) -> None:
    _late_files(late, "b")
    append = Journal.append

    def and_then_sync(journal: Journal, entry: JournalEntry) -> None:
        append(journal, entry)
        while late:
            late.pop()()

    put(Journal, "append", and_then_sync)


def _publish_before_fsync(late: Late) -> None:
    _late_files(late, "m")


def _compaction_before_fsync(late: Late) -> None:
    _late_files(late, "c")


def _rejects_before_fsync(late: Late) -> None:
    sync_file = files.sync_file

    def without(path: Path, step: Step = no_step) -> Digest:
        late.append(lambda: sync_file(path))
        with _without_fsync():
            return sync_file(path, step)

    put(rejects, "sync_file", without)


def _parents_not_synced(_late: Late) -> None:
    put(engine, "sync_folders", lambda folder, _: files.sync_folders(folder, folder))


def _journal_not_synced(_late: Late) -> None:
    append = Journal.append

    def without(journal: Journal, entry: JournalEntry) -> None:
        with _without_fsync():
            append(journal, entry)

    put(Journal, "append", without)


PLANTED: dict[str, Callable[[Late], None]] = {
    "journal before fsync": _journal_before_fsync,
    "publish before fsync": _publish_before_fsync,
    "rejects before fsync": _rejects_before_fsync,
    "compaction before fsync": _compaction_before_fsync,
    "new folders not synced": _parents_not_synced,
    "journal not synced": _journal_not_synced,
}

# ---------------------------------------------------------------- the interpreter's own record


def _record_calls(folder: Path, record: Path) -> None:
    """Write down what this program asks of the system; files that others made as they are met."""
    output = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    met: set[str] = set()
    state = threading.local()

    def say(name: str, *paths: str) -> None:
        os.write(output, ("\t".join((name, *paths)) + "\n").encode())

    def meet() -> None:
        for path in sorted(str(p) for p in (folder / "warehouse").rglob("*")):
            if path not in met:
                met.add(path)
                say("mkdir" if Path(path).is_dir() else "create", path)

    def on_event(event: str, arguments: tuple[object, ...]) -> None:
        if event not in {"open", "os.rename"} or getattr(state, "busy", False):
            return
        state.busy = True
        try:
            path, mode = str(arguments[0]), arguments[1]
            if event == "os.rename":
                say("rename", path, str(mode))
                met.add(str(mode))
            elif isinstance(mode, str) and set(mode) & set("wa+") and path.startswith(str(folder)):
                meet()
                say("write" if "+" in mode else "create", path)
        finally:
            state.busy = False

    real = os.fsync

    def fsync(descriptor: int) -> None:
        path = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        meet()
        real(descriptor)
        say("fsync", path)

    put(os, "fsync", fsync)
    sys.addaudithook(on_event)


# ---------------------------------------------------------------- the task


def main(folder: Path, planted: str) -> None:
    """Run the task to its end."""
    late: Late = []
    # `python -m tests.simulation --mutants` names a fault in the environment.
    planted = planted or os.environ.get("TIDEGATE_PLANTED", "").replace("-", " ")
    if planted:
        PLANTED[planted](late)
    overlord = _Published(folder, late)
    site = PlainSite(folder, folder / "warehouse", overlord=overlord)
    for offset in (15, 30, 45):
        site.read_to(offset)
    site.finish(order(2, end=at(45)))
    [published] = overlord.published
    columns = (Column(name="text"),)
    compactor = Compactor(site.world, LIMITS, 7)
    compactor.apply(
        [
            DesiredCompaction(
                compaction_id="c-1",
                token="t",
                data_source="clicks",
                inputs=tuple(CompactionInput(file=f, columns=columns) for f in published.segments),
                columns=columns,
            )
        ]
    )
    wait_until(lambda: not compactor.reports())
    compactor.close()
    assert compactor.join(DEADLINE_S), "the compaction did not end"


if __name__ == "__main__":
    _folder, _record, _planted = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if _record:
        _record_calls(_folder, Path(_record))
    main(_folder, _planted)
