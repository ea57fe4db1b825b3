"""Checks of the files that a task offers for publishing: its own, in its range, and there."""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from supervisor.core.model.rows import Task
from supervisor.core.values.errors import UnusableFiles
from tasks.contract.messages import PublishRequest, SegmentFile
from tasks.contract.offsets import OffsetsError, TopicPartition, count

_SHOWN = 5


def absent_files(request: PublishRequest, size_of: Callable[[str], int | None]) -> tuple[str, ...]:
    """Return the paths at which there is no file of the reported size, sorted.

    `size_of`: path -> bytes; None: there is no file.  Raises as `size_of` does.
    """
    offered = {file.path: file.size_bytes for file in (*request.segments, *request.quarantine)}
    if request.rejects is not None:
        offered[request.rejects.path] = request.rejects.size_bytes
    below = {path: size for path, size in offered.items() if _is_below(path)}
    return tuple(sorted(path for path, size in below.items() if size_of(path) != size))


def files_are_absent(paths: Sequence[str]) -> UnusableFiles:
    """Return the error about files that are not there."""
    shown = ", ".join(paths[:_SHOWN]) + (", ..." if len(paths) > _SHOWN else "")
    return UnusableFiles(
        f"{len(paths)} files are not in this overlord's warehouse with the sizes that were "
        f"reported: {shown}"
    )


def _is_below(path: str) -> bool:
    """Whether a path stays below the warehouse."""
    return not {"", ".", ".."} & set(path.split("/"))


def check_files(task: Task, request: PublishRequest, *, rolled_up: bool = False) -> None:
    """Refuse files that are not the task's own or hold offsets outside its range.

    A rolled-up row stands for one record or more.  Quarantined records are among the rejects.
    Their files must have as many as the request reports.

    Raises:
        UnusableFiles: the message names the file and the number.
    """
    try:
        span = count(request.start, request.end)
    except OffsetsError as error:
        raise UnusableFiles(str(error)) from error
    folder = PurePosixPath(task.data_source, "data", task.id)
    offered = [file.path for file in (*request.segments, *request.quarantine)]
    offered += [] if request.rejects is None else [request.rejects.path]
    for path in offered:
        if folder not in PurePosixPath(path).parents or not _is_below(path):
            raise UnusableFiles(f"{path} does not lie in the task's folder {folder}")
    if len(set(offered)) != len(offered):
        raise UnusableFiles("a file is offered twice")
    for file in request.segments:
        _check_spans(file, request, rolled_up=rolled_up)
    for file in request.quarantine:
        _check_spans(file, request, rolled_up=False)
    kept = sum(s.rows for file in request.segments for s in file.spans)
    rejected = 0 if request.rejects is None else request.rejects.records
    if kept + rejected > span:
        raise UnusableFiles(f"{kept} rows and {rejected} rejects do not fit {span} offsets")
    _check_number_quarantined(request, rejected)


def _check_spans(file: SegmentFile, request: PublishRequest, *, rolled_up: bool) -> None:
    records = sum(s.rows for s in file.spans)
    if records != file.rows and not (rolled_up and records > file.rows):
        raise UnusableFiles(f"{file.path}: its spans do not add up to {file.rows} rows")
    for s in file.spans:
        partition = TopicPartition(s.topic, s.partition)
        first, end = request.start.get(partition), request.end.get(partition)
        if first is None or end is None or not first <= s.first <= s.last < end:
            raise UnusableFiles(f"{file.path}: {partition} {s.first}-{s.last} is out of range")
        if not 0 < s.rows <= s.last - s.first + 1:
            raise UnusableFiles(f"{file.path}: {s.rows} rows do not fit {s.first}-{s.last}")


def _check_number_quarantined(request: PublishRequest, rejected: int) -> None:
    quarantined = sum(file.rows for file in request.quarantine)
    reported = None if request.rejects is None else request.rejects.quarantined
    if quarantined > rejected:
        raise UnusableFiles(f"{quarantined} quarantined records are more than {rejected} rejects")
    if reported is not None and reported != quarantined:
        raise UnusableFiles(
            f"{reported} quarantined records are told, their files have {quarantined}"
        )
