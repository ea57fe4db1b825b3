"""The files of a table: published files from the database, journaled files from workers.

Readers use this list, never a glob.  Journaled files are those of one live replica per live
generation.  They are not part of the table yet, and may be replaced before the publish.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Protocol

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.model.rows import Generation, Task
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.values.errors import WorkerUnavailable
from supervisor.views.tables.totals import TableStats
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import JournalFile, JournalView, TaskPhase, TaskReport
from tasks.contract.offsets import Offsets
from tasks.contract.wire import Instant, Wire

WORKERS_AT_ONCE = 32
WITHIN_S = 0.5
"""Seconds from the start of a request; a hanging worker must not delay the answer for longer."""
_READABLE_PHASES = frozenset(TaskPhase) - {TaskPhase.FAILED}


class Journals(Protocol):
    """The part of the workers' control API that reading needs."""

    def journal(self, worker_url: str, task_id: str, token: str, patience_s: float) -> JournalView:
        """Return the journaled files of one live task.

        Raises:
            WorkerUnavailable: the worker was silent for `patience_s`, or its answer is wrong.
        """
        ...


class TableFile(Wire):
    """One Parquet file: `path` below the warehouse, `uri` the absolute path."""

    path: str
    uri: str
    published: bool
    rows: int
    size_bytes: int
    sha256: str | None
    """None for a journaled file, as is the interval: both are known with the publish."""
    interval_start: Instant | None
    interval_end: Instant | None
    supervisor_id: str
    generation_id: str | None
    task_id: str
    compaction_id: str | None
    """The compaction that wrote the file; generation and task are then those of the newest input.
    """
    column_set: int | None
    """Index of the file's columns in `column_sets`; None: from before columns were recorded."""


class TableFiles(Wire):
    """The files of one table."""

    data_source: str
    warehouse: str
    columns: list[Column]
    """Columns of the table; a file's column of another type is to be read in the table's type."""
    column_sets: list[list[Column]]
    files: list[TableFile]
    missing: list[str]
    """Reasons why journaled files are missing, one for each generation without an answer."""


class DataSources(Wire):
    """Every table that is fed, or was published into, by name."""

    data_sources: list[str]


class DataSourcesWithTotals(DataSources):
    """The same with the totals of each table."""

    stats: list[TableStats]


class ColumnSets:
    """The distinct lists of columns of files, numbered from 0."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Column, ...], int] = {}

    def number(self, columns: tuple[Column, ...]) -> int | None:
        """Return the number of a list; None for an empty list, which means: not known."""
        return self._numbers.setdefault(columns, len(self._numbers)) if columns else None

    def all(self) -> list[list[Column]]:
        """Return the lists by number."""
        return [list(columns) for columns in self._numbers]


@dataclass(frozen=True)
class Replica:
    """A live task, and the URL of its worker."""

    task: Task
    url: str


@dataclass(frozen=True)
class LiveRange:
    """A live generation and its replicas, the furthest first."""

    generation: Generation
    replicas: tuple[Replica, ...]


def live_ranges(
    generations: Sequence[Generation],
    tasks: Sequence[Task],
    workers: Sequence[WorkerView],
    urls: Mapping[str, str],
) -> list[LiveRange]:
    """Return each live generation with its replicas on live workers, the furthest first."""
    alive = {w.id: w.reports for w in workers if w.liveness is Liveness.ALIVE}
    ranges = []
    for generation in generations:
        known: list[tuple[TaskReport, Task]] = []
        for task in tasks:
            report = alive.get(task.worker_id, {}).get(task.id)
            if task.generation_id == generation.id and report and report.phase in _READABLE_PHASES:
                known.append((report, task))
        known.sort(key=lambda pair: (-sum(pair[0].position.values()), pair[1].id))
        replicas = tuple(Replica(t, urls[t.worker_id]) for _, t in known if t.worker_id in urls)
        ranges.append(LiveRange(generation, replicas))
    return ranges


def published(
    segments: Sequence[ListedSegment], warehouse: str, sets: ColumnSets
) -> list[TableFile]:
    """Return the published files, and add their columns to `sets`."""
    return [
        TableFile(
            path=segment.file.path,
            uri=_uri(warehouse, segment.file.path),
            published=True,
            rows=segment.file.rows,
            size_bytes=segment.file.size_bytes,
            sha256=segment.file.sha256,
            interval_start=segment.file.interval_start,
            interval_end=segment.file.interval_end,
            supervisor_id=segment.supervisor_id,
            generation_id=segment.generation_id,
            task_id=segment.task_id,
            compaction_id=segment.compaction_id,
            column_set=sets.number(segment.columns),
        )
        for segment in segments
    ]


def journaled(
    ranges: Sequence[LiveRange],
    journals: Journals,
    warehouse: str,
    sets: ColumnSets,
    left_s: Callable[[], float],
) -> tuple[list[TableFile], list[str]]:
    """Return the journaled files, and the reasons for missing ones, within the time of `left_s`.

    All replicas are asked at once, and the best one that answers counts.
    """
    files: list[TableFile] = []
    missing: list[str] = []
    pool = ThreadPoolExecutor(WORKERS_AT_ONCE, thread_name_prefix="journals")
    try:
        answers = _ask(pool, ranges, journals, left_s)
        for live in ranges:
            answer = _best(live, answers, left_s)
            if isinstance(answer, str):
                missing.append(answer)
            else:
                task, view = answer
                files += (_journaled_file(task, file, warehouse, sets) for file in view.files)
    finally:
        # The pool is not awaited: an answer that is no longer needed may never come.
        pool.shutdown(wait=False, cancel_futures=True)
    return files, missing


def _journaled_file(task: Task, file: JournalFile, warehouse: str, sets: ColumnSets) -> TableFile:
    return TableFile(
        path=file.path,
        uri=_uri(warehouse, file.path),
        published=False,
        rows=file.rows,
        size_bytes=file.size_bytes,
        sha256=None,
        interval_start=None,
        interval_end=None,
        supervisor_id=task.supervisor_id,
        generation_id=task.generation_id,
        task_id=task.id,
        compaction_id=None,
        column_set=sets.number(file.columns),
    )


def _ask(
    pool: ThreadPoolExecutor,
    ranges: Sequence[LiveRange],
    journals: Journals,
    left_s: Callable[[], float],
) -> dict[str, Future[JournalView]]:
    """Ask the best replica of each range first, then the second; return task -> its answer."""

    def ask(replica: Replica) -> JournalView:
        if (patience_s := left_s()) <= 0:
            raise WorkerUnavailable(f"{replica.task.id} was not asked: others took {WITHIN_S:g} s")
        return journals.journal(replica.url, replica.task.id, replica.task.token, patience_s)

    turns = zip_longest(*(live.replicas for live in ranges))
    return {
        replica.task.id: pool.submit(ask, replica)
        for turn in turns
        for replica in turn
        if replica is not None
    }


def _best(
    live: LiveRange, answers: Mapping[str, Future[JournalView]], left_s: Callable[[], float]
) -> tuple[Task, JournalView] | str:
    why = "no replica runs on a worker that answers"
    for replica in live.replicas:
        task = replica.task
        try:
            view = answers[task.id].result(max(left_s(), 0))
        except TimeoutError:
            why = f"{task.id}: its journal is at its worker, and {replica.url} does not answer"
            continue
        except WorkerUnavailable as error:
            why = str(error)
            continue
        if (problem := _unusable(view, task, live.generation.end)) is not None:
            why = problem
            continue
        return task, view
    return f"{live.generation.id}: {why}"


def _unusable(view: JournalView, task: Task, end: Offsets | None) -> str | None:
    """Return why a journal is refused: another task's files, or rows beyond the end (P14)."""
    if view.task_id != task.id:
        return f"{task.id}: its worker answered for {view.task_id}"
    if any(view.position.get(p, 0) > offset for p, offset in (end or {}).items()):
        return f"{task.id} has read beyond the end and not yet dropped it"
    folder = PurePosixPath(task.data_source, "data", task.id)
    for file in view.files:
        inside = PurePosixPath(file.path).is_relative_to(folder)
        if not inside or ".." in PurePosixPath(file.path).parts:
            return f"{task.id}: {file.path} does not lie in its folder"
    return None


def _uri(warehouse: str, path: str) -> str:
    return str(PurePosixPath(warehouse) / path)
