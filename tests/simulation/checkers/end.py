"""I11, I12: what must be true when all faults are over and the quiet phase has passed."""

import json
import sqlite3
from collections.abc import Iterator

from tests.simulation.checkers.database import LIVE, Publication, Rows
from tests.simulation.checkers.ledger import Ledger, Watched

_HOLDS_TOKENS = {("tasks", "token"), ("compactions", "token")}
_TOKENS = "SELECT token FROM tasks UNION SELECT token FROM compactions"
_ORPHANS = {
    "segments without a publication": (
        "SELECT count(*) FROM segments WHERE generation_id NOT IN"
        " (SELECT generation_id FROM publications)"
    ),
    "spans without a segment": (
        "SELECT count(*) FROM segment_spans WHERE segment_id NOT IN (SELECT id FROM segments)"
    ),
    "partitions without a generation": (
        "SELECT count(*) FROM generation_partitions WHERE generation_id NOT IN"
        " (SELECT id FROM generations)"
    ),
    "open partitions of an ended generation": (
        "SELECT count(*) FROM generation_partitions WHERE open AND generation_id IN"
        " (SELECT id FROM generations WHERE ended_at IS NOT NULL)"
    ),
    "tasks without a generation": (
        "SELECT count(*) FROM tasks WHERE generation_id NOT IN (SELECT id FROM generations)"
    ),
    "publications without a task": (
        "SELECT count(*) FROM publications WHERE task_id NOT IN (SELECT id FROM tasks)"
    ),
}


def everything_is_published(now: Rows, world: Watched) -> Iterator[str]:
    """I11: lag 0; nothing waits, pauses or publishes any more."""
    ended = _ended_supervisors(world.store_connection) | set(world.held_back)
    for part, row in now.committed.items():
        if part.supervisor in ended:
            continue
        left = [
            at
            for at, _, kind in world.kafka.records(part.topic, part.partition, row.topic_id)
            if kind == "data" and at >= row.next
        ]
        if left:
            where = f"{part.supervisor} {part.topic}:{part.partition}"
            yield f"I11 {where}: lag {len(left)} after the quiet phase, from {left[0]} on"
    for generation in now.generations.values():
        if generation.supervisor in world.held_back:
            continue
        if generation.state in LIVE - {"READING"}:
            yield f"I11 {generation.id} is still {generation.state}"
        if generation.state in LIVE and generation.supervisor in ended:
            yield f"I11 {generation.id} is live, its supervisor is not"


def _ended_supervisors(db: sqlite3.Connection) -> set[str]:
    ended = set()
    for supervisor, spec, suspended, _ in db.execute(_NEWEST):
        document = None if spec is None else json.loads(spec)
        flag = None if document is None else document.get("suspended")
        if document is None or (flag if suspended is None else suspended):
            ended.add(supervisor)
    return ended


_NEWEST = """
    SELECT s.supervisor_id, coalesce(s.spec, whole.spec), s.suspended, max(s.version)
    FROM supervisor_specs s LEFT JOIN supervisor_specs whole
        ON whole.supervisor_id = s.supervisor_id AND whole.version = s.same_as
    GROUP BY 1
"""


def no_row_is_an_orphan(world: Watched) -> Iterator[str]:
    """I11: nothing refers to what is not there."""
    for what, query in _ORPHANS.items():
        if number := world.store_connection.execute(query).fetchone()[0]:
            yield f"I11 {number} {what}"


def no_secret_is_stored(world: Watched) -> Iterator[str]:
    """I12: neither a canary nor the token of a task stands anywhere but where it belongs."""
    db = world.store_connection
    tokens = {row[0] for row in db.execute(_TOKENS)}
    secrets = sorted({s for s in [*tokens, *world.secrets] if len(s) >= _SHORTEST})
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        cursor = db.execute(f'SELECT * FROM "{table}"')  # noqa: S608 -- a name of the schema
        names = [column[0] for column in cursor.description]
        columns: dict[str, list[str]] = {
            name: [] for name in names if (table, name) not in _HOLDS_TOKENS
        }
        for row in cursor:
            for name, value in zip(names, row, strict=True):
                if name in columns and isinstance(value, str | bytes):
                    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
                    columns[name].append(text)
        for name, texts in columns.items():
            whole = "\n".join(texts)
            if any(secret in whole for secret in secrets):
                yield f"I12 a secret is stored in {table}.{name}"
    reports = "\n".join(
        f"{task.state.note} {task.state.failure} {task.state.lease_note}"
        for worker in world.workers
        for task in worker.tasks.values()
    )
    if any(secret in reports for secret in secrets):
        yield "I12 a secret is in the report of a task"
    answers = "\n".join(str(line.detail["text"]) for line in world.log if line.kind == "told")
    if any(secret in answers for secret in secrets):
        yield "I12 a secret is in an answer to the user"


_SHORTEST = 8
"""A shorter text would be found by chance."""


def every_file_is_somebodys(world: Watched) -> Iterator[str]:
    """P23: a file is named; or its task goes on, or somebody is to clean up behind it.

    What a process that was frozen writes behind a settled task that published nothing is found by
    the next sweep.
    """
    db = world.store_connection
    named = {row[0] for row in db.execute(_NAMED)}
    cared_for = {row[0] for row in db.execute(_CARED_FOR)}
    for path in sorted(set(world.warehouse.files) - named):
        if path.split("/")[_TASK] not in cared_for:
            yield f"P23 {path} is nobody's"


_TASK = 2
"""Which part of a path names it."""
_NAMED = """
    SELECT path FROM segments
    UNION SELECT json_extract(rejects, '$.path') FROM publications
"""
_CARED_FOR = """
    SELECT id FROM tasks WHERE ended_at IS NULL OR upper(outcome) = 'STALE'
    UNION SELECT id FROM tasks WHERE folder_deleted_at IS NOT NULL AND NOT published
    UNION SELECT id FROM compactions WHERE ended_at IS NULL
    UNION SELECT id FROM compactions WHERE folder_deleted_at IS NOT NULL AND status = 'FAILED'
    UNION SELECT key FROM events JOIN event_positions USING (queue_id) WHERE seq > processed_seq
    UNION SELECT key FROM events_failed
"""


def whole(now: Rows, world: Watched) -> dict[str, Publication]:
    """Return the publications of whose files none was condemned."""
    db = world.store_connection
    condemned = {row[0] for row in db.execute(_CONDEMNED)}
    return {each: row for each, row in now.publications.items() if each not in condemned}


_CONDEMNED = (
    "SELECT generation_id FROM segments WHERE deleted_at IS NOT NULL AND compaction_id IS NULL"
)


def no_range_passes_its_bound(world: Watched) -> Iterator[str]:
    """No record at or beyond the end of a fixed range is in the range of a generation.

    A partition that stands at its end is in no further generation.
    """
    for generation, number, start, end, ends in world.store_connection.execute(_BOUNDED):
        bound = json.loads(ends)[str(number)]
        if start >= bound:
            yield f"I11 {generation} opened at {start} in partition {number}, its bound is {bound}"
        if end > bound:
            yield f"I1 {generation}: partition {number} was read to {end}, its bound is {bound}"


_BOUNDED = """
    SELECT g.id, p.partition, p.start_offset, coalesce(p.end_offset, p.start_offset),
        json_extract(whole.spec, '$.ioConfig.boundedStreamConfig.endSequenceNumbers')
    FROM generations g JOIN generation_partitions p ON p.generation_id = g.id
    JOIN supervisor_specs s ON s.supervisor_id = g.supervisor_id AND s.version = g.spec_version
    JOIN supervisor_specs whole ON whole.supervisor_id = s.supervisor_id
        AND whole.version = coalesce(s.same_as, s.version)
    WHERE json_extract(whole.spec, '$.ioConfig.boundedStreamConfig.endSequenceNumbers') IS NOT NULL
"""


def chains_reach_the_committed(ledger: Ledger, now: Rows) -> Iterator[str]:
    """I4: what the checkers followed step by step is what is stored."""
    for part, row in now.committed.items():
        chains = ledger.chains.get(part, [])
        if not chains or chains[-1].reached != row.next:
            where = f"{part.supervisor} {part.topic}:{part.partition}"
            yield f"I4 {where}: stored {row.next}, followed to {chains and chains[-1].reached}"
