"""What verbs on tables, workers and what is left of a supervisor would do.  Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from supervisor.core.attention.foreseen.effect import FileTotals, Foreseen, count_of, digest_of
from supervisor.core.model.listed_segments import SegmentKey


@dataclass(frozen=True)
class FileSize:
    """A file and how large it is, without what else is known of it."""

    id: str
    rows: int
    size_bytes: int


def unused_foreseen(data_source: str, selected: Sequence[SegmentKey], grace: timedelta) -> Foreseen:
    """Return what taking segments out of their table does."""
    files = totals_of(selected)
    text = (
        f"{count_of(selected, 'file')} with {files.rows:,} rows leave {data_source} at once; they "
        f"are deleted {_days(grace)} later."
        if selected
        else f"No file of {data_source} is selected: nothing changes."
    )
    return Foreseen(
        "mark-unused",
        data_source,
        text,
        f"`tidegate segment mark-used {data_source}` puts them back within {_days(grace)}; then "
        "it cannot be undone",
        digest_of("mark-unused", data_source, [key.id for key in selected]),
        files=files,
    )


def used_foreseen(data_source: str, selected: Sequence[SegmentKey]) -> Foreseen:
    """Return what putting segments back into their table does."""
    back = [key for key in selected if key.replaced_by is None]
    joined = len(selected) - len(back)
    files = totals_of(back)
    text = (
        f"{count_of(back, 'file')} with {files.rows:,} rows are part of {data_source} again."
        if back
        else f"No file of {data_source} can be put back: nothing changes."
    )
    return Foreseen(
        "mark-used",
        data_source,
        text,
        f"`tidegate segment mark-unused {data_source}` takes them out again",
        digest_of("mark-used", data_source, [key.id for key in back]),
        files=files,
        warnings=(f"{joined:,} of the files were compacted: they stay out",) if joined else (),
    )


def compact_foreseen(data_source: str, groups: Sequence[Sequence[FileSize]]) -> Foreseen:
    """Return what compacting small files does; each group becomes one file."""
    inputs = [segment for group in groups for segment in group]
    files = totals_of(inputs)
    text = (
        f"{count_of(inputs, 'file')} of {data_source} become {len(groups):,}, with the same "
        f"{files.rows:,} rows; readers see them changed one by one."
        if groups
        else f"No small files of {data_source} can be joined: nothing changes."
    )
    return Foreseen(
        "compact",
        data_source,
        text,
        "a compaction that waits or runs is given up by `tidegate compaction cancel`; one that "
        "has ended cannot be undone, and no row is lost",
        digest_of(
            "compact", data_source, [",".join(sorted(each.id for each in g)) for g in groups]
        ),
        files=files,
    )


def forget_foreseen(
    supervisor_id: str,
    newest_version: int,
    committed: Sequence[str],
    kept: Sequence[SegmentKey],
    *,
    with_reports: bool = False,
) -> Foreseen:
    """Return what forgetting a terminated supervisor does.

    `committed`: its offsets in words; `kept`: its files that are part of a table;
    `with_reports`: its stored reports and logs go too.
    """
    files = totals_of(kept)
    reports = ", and its stored reports and logs" if with_reports else ""
    warnings = (
        f"a new supervisor of this id reads from the start: {files.rows:,} rows that stay in the "
        "table come in a second time, unless they are taken out first"
    )
    return Foreseen(
        "forget",
        supervisor_id,
        f"{newest_version:,} versions of its spec, its committed offsets and its history are "
        f"deleted{reports}; its table stays as it is.",
        "it cannot be undone",
        digest_of("forget", supervisor_id, [str(newest_version)], committed, [reports]),
        files=files,
        warnings=(warnings,) if files.rows else (),
    )


def worker_foreseen(
    worker_id: str, tasks: Sequence[str], free_slots: int, *, disables: bool, changes: bool
) -> Foreseen:
    """Return what disabling or enabling a worker does.

    `tasks`: what runs on it; `free_slots`: those of the other workers that take tasks;
    `changes`: it is not so already.
    """
    verb, other = ("disable", "enable") if disables else ("enable", "disable")
    if not changes:
        text = f"{worker_id} is {verb}d already: nothing changes."
    elif disables:
        text = f"{worker_id} gets nothing new; {count_of(tasks, 'task')} on it run to their end."
    else:
        text = f"{worker_id} takes tasks again."
    warnings: tuple[str, ...] = ()
    if disables and changes and free_slots < len(tasks):
        free = f"other workers have {count_of(range(free_slots), 'free slot')}"
        warnings = (f"{free}: the tasks that follow these {len(tasks)} have to wait",)
    return Foreseen(
        verb,
        worker_id,
        text,
        f"`tidegate worker {other} {worker_id}`",
        digest_of(verb, worker_id, [str(changes)]),
        ends=(),
        tasks=tuple(tasks),
        warnings=warnings,
    )


def totals_of(selected: Sequence[FileSize | SegmentKey]) -> FileTotals:
    """Return how many files these are, with how many rows and bytes."""
    return FileTotals(
        len(selected),
        sum(key.rows for key in selected),
        sum(key.size_bytes for key in selected),
    )


def _days(grace: timedelta) -> str:
    seconds = round(grace.total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            number = seconds // length
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{seconds} s"
