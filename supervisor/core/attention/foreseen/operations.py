"""What verbs of an operator on workers, event queues, compactions and rules would do.  Pure."""

from collections.abc import Sequence
from datetime import timedelta

from supervisor.core.attention.foreseen.effect import Foreseen, count_of, digest_of
from supervisor.core.attention.foreseen.tables import totals_of
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.model.rows import RetentionRule
from supervisor.core.queue.events import FailedEvent, QueueRow
from supervisor.core.tables.compaction import Compaction, CompactionRule
from supervisor.core.values.field_types import format_duration

_FINAL = "it cannot be undone"


def forget_worker_foreseen(worker_id: str, incarnation: int) -> Foreseen:
    """Return what forgetting a lost worker does."""
    return Foreseen(
        "forget-worker",
        worker_id,
        f"{worker_id} leaves the lists, and files that its tasks left unpublished are deleted; "
        "published files stay.",
        "it cannot be undone; if the worker comes back, it registers as a new one",
        digest_of("forget-worker", worker_id, [str(incarnation)]),
    )


def replay_foreseen(failed: Sequence[FailedEvent], row: QueueRow, *, left: int) -> Foreseen:
    """Return what queueing failed events again does; `left`: events that stay set aside."""
    name = str(row.queue)
    stay = f"; {count_of(range(left), 'event')} of it {'stays' if left == 1 else 'stay'} set aside"
    text = (
        f"{count_of(failed, 'event')} that failed {'waits' if len(failed) == 1 else 'wait'} in "
        f"{name} again, at its end and with no tries counted{stay if left else ''}."
        if failed
        else f"No event of {name} can be queued again: nothing changes."
    )
    return Foreseen(
        "replay",
        name,
        text,
        "it cannot be undone; an event that fails again is set aside again",
        digest_of("replay", name, [str(each.seq) for each in failed]),
    )


def drop_foreseen(failed: FailedEvent) -> Foreseen:
    """Return what dropping a failed event does."""
    name = str(failed.queue)
    return Foreseen(
        "drop",
        name,
        f"event {failed.seq} of {name}, about {failed.key}, is deleted, and its work is never "
        f"done; it failed: {failed.reason}",
        _FINAL,
        digest_of("drop", name, [str(failed.seq)]),
    )


def repair_foreseen(row: QueueRow) -> Foreseen:
    """Return what the repair of a dead queue does."""
    name, waiting = str(row.queue), count_of(range(row.outstanding_events), "event")
    return Foreseen(
        "repair",
        name,
        f"{name} goes on; it is dead at {row.dead_seq}: {row.dead_why}. About {waiting} in it: "
        "sound ones are queued again in their order, damaged ones are set aside.",
        _FINAL,
        digest_of("repair", name, [str(row.dead_seq), row.dead_why]),
    )


def cancel_foreseen(row: Compaction) -> Foreseen:
    """Return what giving a compaction up does."""
    files = count_of(row.inputs, "file")
    place = f"runs on {row.worker_id}" if row.worker_id else "waits for a worker"
    text = (
        f"{row.id}, which {place}, is given up; its {files} stay what {row.data_source} is made of."
        if row.live
        else f"{row.id} has ended already: nothing changes."
    )
    return Foreseen(
        "cancel",
        row.id,
        text,
        f"`tidegate compaction run {row.data_source}` begins another one",
        digest_of("cancel", row.id, [str(row.live)]),
    )


def retention_foreseen(
    data_source: str,
    keep_for: timedelta | None,
    before: RetentionRule | None,
    old: Sequence[SegmentKey],
    grace: timedelta,
) -> Foreseen:
    """Return what setting or dropping a rule of retention does.

    `keep_for`: None drops it; `before`: the rule that applies now; `old`: files that leave at once;
    `grace`: how long after that they are deleted.
    """
    files = totals_of(old)
    if keep_for is not None:
        text = (
            f"{count_of(old, 'file')} with {files.rows:,} rows, older than "
            f"{_period(keep_for)}, leave {data_source} at once, and are deleted "
            f"{_period(grace)} later; so does from now on what becomes as old."
        )
    elif before is None:
        text = f"{data_source} has no rule: nothing changes."
    else:
        text = f"Nothing leaves {data_source} by its age any more; what was taken out stays so."
    return Foreseen(
        "drop-retention" if keep_for is None else "set-retention",
        data_source,
        text,
        _retention_undo(data_source, before, files.number),
        digest_of(
            "retention",
            data_source,
            ["" if keep_for is None else _period(keep_for)],
            ["" if before is None else _period(before.keep_for)],
            [key.id for key in old],
        ),
        files=files,
    )


def _retention_undo(data_source: str, before: RetentionRule | None, files: int) -> str:
    option = "--keep-forever"
    if before is not None:
        option = f"--keep-for {_period(before.keep_for)}"
    rule = f"`tidegate segment retention {data_source} {option}` sets the rule of before"
    back = f", `tidegate segment mark-used {data_source}` puts files back until they are deleted"
    return rule + (back if files else "")


def compaction_rule_foreseen(
    data_source: str, rule: CompactionRule | None, before: CompactionRule | None
) -> Foreseen:
    """Return what setting or dropping (None) the rule of compaction of a table does."""
    if rule is not None:
        text = (
            f"{data_source} is compacted by itself, up to "
            f"{_period(rule.skip_offset_from_latest)} before its newest rows: "
            f"{rule.files_min:,} or more files of a chunk, into files of {rule.target_rows:,} rows "
            f"or {rule.target_bytes:,} bytes at most."
        )
    elif before is None:
        text = f"{data_source} has no rule: nothing changes."
    else:
        text = f"{data_source} is compacted only on request; compactions that run go on."
    undo = "--off"
    if before is not None:
        undo = (
            f"--skip-latest {_period(before.skip_offset_from_latest)} --target-rows "
            f"{before.target_rows} --target-bytes {before.target_bytes} --files-min "
            f"{before.files_min}"
        )
    return Foreseen(
        "drop-compaction" if rule is None else "set-compaction",
        data_source,
        text,
        f"`tidegate compaction rule {data_source} {undo}`; what was compacted stays so",
        digest_of("compaction-rule", data_source, _facts(rule), _facts(before)),
    )


def _period(length: timedelta) -> str:
    """Return a length as people write it: in days where it has whole ones."""
    days, rest = divmod(length, timedelta(days=1))
    return f"P{days}D" if days and not rest else format_duration(length)


def _facts(rule: CompactionRule | None) -> list[str]:
    if rule is None:
        return []
    return [
        f"skips {rule.skip_offset_from_latest}",
        f"rows {rule.target_rows}",
        f"bytes {rule.target_bytes}",
        f"files {rule.files_min}",
    ]
