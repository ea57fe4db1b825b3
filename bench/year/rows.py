"""Rows of published ranges and compactions, as the product leaves them once all is settled."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import Table

from bench.year.chronicle import LATE, RECORDS, Chronicle, PastCompaction, PastRange, token_of
from bench.year.shape import GRACE, PERIOD
from supervisor.chores.compaction.compacting import AUTHOR
from supervisor.core.model.rows import GenerationState, TaskStatus
from supervisor.metadata.schema.column_sets import set_id
from supervisor.metadata.schema.compaction import compactions
from supervisor.metadata.schema.history import audit
from supervisor.metadata.schema.tables import (
    generation_partitions,
    generations,
    publications,
    segment_spans,
    segments,
    tasks,
)
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import Counters, PublishOutcome

Row = dict[str, object]
Rows = Iterator[tuple[Table, Row]]

INCARNATION = 1_764_000_000_000
COLUMNS = (
    *(Column(name=name) for name in ("id", "user", "page", "country", "device")),
    *(Column(name=name, type="long") for name in ("latency_ms", "bytes")),
    Column(name="price", type="double"),
)
COLUMN_SET = set_id(COLUMNS)
_DIGEST = "1:0123456789abcdef"
_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_BYTES_PER_ROW = 32
_HANDOFF = f"taskDuration of {PERIOD.total_seconds():g} s is over"


def rows_of(past: PastRange, chronicle: Chronicle) -> Rows:
    """Yield every row of a range, in an order that foreign keys allow."""
    name = chronicle.names[past.supervisor]
    records = RECORDS * len(past.start)
    yield generations, _generation(past, chronicle, name)
    for partition, at in past.start.items():
        yield (
            generation_partitions,
            {
                "generation_id": past.id,
                "topic": partition.topic,
                "partition": partition.partition,
                "supervisor_id": name,
                "start_offset": at,
                "end_offset": past.end[partition],
                "open": False,
                "reset_epoch": 0,
            },
        )
    for replica in range(len(past.task_ids)):
        yield tasks, _task(past, chronicle, replica)
    yield (
        publications,
        {
            "generation_id": past.id,
            "supervisor_id": name,
            "data_source": name,
            "task_id": past.task_ids[0],
            "published_at": past.ended_at,
            "start_offsets": past.start,
            "end_offsets": past.end,
            "rows": records,
            "rejected": 0,
            "rejects": None,
            "samples": [],
            "forgotten_at": None,
            "digest": _DIGEST,
            "diverged": None,
            "ranges": 1,
        },
    )
    for file in range(chronicle.shape.files):
        yield from _file(past, chronicle, file)
    why = f"{records} rows in {chronicle.shape.files} segment(s)"
    detail = {"supervisor": name, "generation": past.id, "why": why}
    yield audit, _audit(past.ended_at, f"task {past.task_ids[0]}", "publish", name, detail)


def _generation(past: PastRange, chronicle: Chronicle, name: str) -> Row:
    return {
        "id": past.id,
        "supervisor_id": name,
        "data_source": name,
        "ordinal": past.ordinal,
        "layout_version": 1,
        "task_count": chronicle.shape.groups,
        "partition_count": chronicle.shape.partition_count,
        "group_number": past.group,
        "spec_version": chronicle.spec_version(past.number),
        "state": GenerationState.PUBLISHED,
        "opened_at": past.opened_at,
        "timer_started_at": past.opened_at,
        "sequence": 2,
        "asked": None,
        "handoff_why": _HANDOFF,
        "must_end": False,
        "paused_at": past.paused_at,
        "end_fixed_at": past.end_fixed_at,
        "ended_at": past.ended_at,
        "first_finished_at": past.ended_at,
    }


def _task(past: PastRange, chronicle: Chronicle, replica: int) -> Row:
    name, winner = chronicle.names[past.supervisor], past.task_ids[0]
    won = replica == 0
    return {
        "id": past.task_ids[replica],
        "supervisor_id": name,
        "data_source": name,
        "generation_id": past.id,
        "replica": replica,
        "attempt": 1,
        "worker_id": chronicle.worker(past.supervisor, past.group, replica),
        "incarnation": INCARNATION,
        "token": token_of(past.task_ids[replica]),
        "status": TaskStatus.SUCCESS,
        "created_at": past.opened_at,
        "reason": "published" if won else f"{winner} published the range",
        "ended_at": past.ended_at,
        "taken_up": False,
        "outcome": PublishOutcome.COMMITTED if won else PublishOutcome.ALREADY_PUBLISHED,
        "published": won,
        "folder_deleted_at": past.settled_at,
        "lost": False,
        "counters": counters_of(len(past.start)).model_dump(),
        "position": past.end,
    }


def counters_of(partitions: int) -> Counters:
    """Return the counters of a task that has read a whole range."""
    records = RECORDS * partitions
    return Counters(processed=records, processed_bytes=230 * records, batches=1_800)


def chunk_of(past: PastRange, file: int, files: int) -> datetime:
    """Return the beginning of the time chunk of a file of a range."""
    own = past.opened_at.replace(minute=0, second=0, microsecond=0)
    return own - (files - 1 - file) * PERIOD


def _bounds(file: int, files: int) -> tuple[int, int]:
    """Return the records of each partition in a file of a range, counted from its start."""
    if files == 1:
        return 0, RECORDS
    return (0, LATE) if file == 0 else (LATE, RECORDS)


def _file(past: PastRange, chronicle: Chronicle, file: int) -> Rows:
    name, files = chronicle.names[past.supervisor], chronicle.shape.files
    begin, end = _bounds(file, files)
    chunk = chunk_of(past, file, files)
    # File 0 of a pair belongs to the chunk before: see `Chronicle.compaction`.
    compaction = chronicle.compaction(past.supervisor, past.number - (files - 1 - file))
    out = None if compaction is None else compaction.at
    deleted = None if out is None or out + GRACE > chronicle.now else out + GRACE
    segment = f"{past.task_ids[0]}/{file}"
    yield (
        segments,
        {
            "id": segment,
            "data_source": name,
            "supervisor_id": name,
            "generation_id": past.id,
            "task_id": past.task_ids[0],
            "published_at": past.ended_at,
            "path": f"{name}/data/{past.task_ids[0]}/m{INCARNATION}/segment-{file:05d}.parquet",
            **_contents(chunk, (end - begin) * len(past.start)),
            "unused_at": out,
            "deleted_at": deleted,
            "compaction_id": None,
            "replaced_by": None if compaction is None else compaction.id,
        },
    )
    for position, (partition, at) in enumerate(past.start.items()):
        first, last = at + begin, at + end - 1
        yield (
            segment_spans,
            {"segment_id": segment, "position": position}
            | _span(partition.topic, partition.partition, first, last),
        )


def _contents(chunk: datetime, rows: int) -> Row:
    return {
        "interval_start": chunk,
        "interval_end": chunk + PERIOD,
        "rows": rows,
        "size_bytes": rows * _BYTES_PER_ROW,
        "sha256": _SHA256,
        "time_min": chunk + timedelta(milliseconds=3),
        "time_max": chunk + PERIOD - timedelta(milliseconds=2),
        "column_set": COLUMN_SET,
    }


def _span(topic: str, partition: int, first: int, last: int) -> Row:
    rows = last - first + 1
    return {"topic": topic, "partition": partition, "first": first, "last": last, "rows": rows}


def compaction_rows(past: PastCompaction, chronicle: Chronicle) -> Rows:
    """Yield the rows of a compaction and of the file that it wrote."""
    name = chronicle.names[past.supervisor]
    shares = _shares(past)
    earliest, file = past.inputs[0]
    chunk = chunk_of(earliest, file, 2)
    worker = chronicle.worker(past.supervisor, 0, 0)
    rows = RECORDS * chronicle.shape.partition_count
    yield (
        compactions,
        {
            "id": past.id,
            "data_source": name,
            "supervisor_id": name,
            "interval_start": chunk,
            "interval_end": chunk + PERIOD,
            "inputs": [each.segment_ids[number] for each, number in past.inputs],
            "columns": [{"name": each.name, "type": each.type} for each in COLUMNS],
            "shares": shares,
            "reason": AUTHOR,
            "created_at": past.at - timedelta(seconds=9),
            "status": TaskStatus.SUCCESS,
            "worker_id": worker,
            "incarnation": INCARNATION,
            "token": token_of(past.id),
            "assigned_at": past.at - timedelta(seconds=8),
            "ended_at": past.at,
            "detail": f"{len(past.inputs)} files became one of {rows} rows",
            "blamed": False,
            "folder_deleted_at": past.at + timedelta(minutes=3),
        },
    )
    yield from _compacted_file(past, name, chunk, rows)
    facts = {"compaction": past.id, "files": str(len(past.inputs)), "rows": str(rows)}
    yield audit, _audit(past.at, f"worker {worker}", "compact", name, facts)


def _compacted_file(past: PastCompaction, name: str, chunk: datetime, rows: int) -> Rows:
    newest = max((each for each, _ in past.inputs), key=lambda each: each.ended_at)
    segment = f"{past.id}/0"
    yield (
        segments,
        {
            "id": segment,
            "data_source": name,
            "supervisor_id": name,
            "generation_id": newest.id,
            "task_id": newest.task_ids[0],
            "published_at": past.at,
            "path": f"{name}/data/{past.id}/segment-00000.parquet",
            **_contents(chunk, rows),
            "unused_at": None,
            "deleted_at": None,
            "compaction_id": past.id,
            "replaced_by": None,
        },
    )
    for position, span in enumerate(_whole_spans(past)):
        yield segment_spans, {"segment_id": segment, "position": position, **span}


def _shares(past: PastCompaction) -> list[Row]:
    """Return what each range has in the compacted file, by the ids of the ranges."""
    shares = []
    for each, file in sorted(past.inputs, key=lambda one: one[0].id):
        begin, end = _bounds(file, 2)
        spans = [
            _span(p.topic, p.partition, at + begin, at + end - 1) for p, at in each.start.items()
        ]
        rows = (end - begin) * len(each.start)
        shares.append({"generation": each.id, "rows": rows, "spans": spans})
    return shares


def _whole_spans(past: PastCompaction) -> list[Row]:
    """Return the spans of the compacted file: own rows, then the late ones of the next range."""
    starts = {
        p: at + LATE for each, file in past.inputs if file == 1 for p, at in each.start.items()
    }
    return [_span(p.topic, p.partition, starts[p], starts[p] + RECORDS - 1) for p in sorted(starts)]


def _audit(at: datetime, actor: str, action: str, subject: str, detail: dict[str, str]) -> Row:
    named = {"at": at, "actor": actor, "action": action, "subject": subject, "detail": detail}
    return {**named, "supervisor_id": detail.get("supervisor")}
