"""P15 to P17, P19: a range is given up for one of five causes, each seen in rows or in Kafka.

    reset         a partition of it has another reset epoch, or its stored offset is gone
    tombstone     the newest spec ends the supervisor, and no replica of the range lived
    broken spec   so many tasks of it failed by themselves, a newer spec is there, no replica lived
    newer release only a newer release reads its spec, a newer spec is there, no replica lived
    predecessor   an earlier range that shares a partition was given up in the same step

A reset that no user asked for needs an offset that Kafka, as it is, does not hold.
"""

import sqlite3
from collections.abc import Iterator

from tests.simulation.checkers.database import Generation, Part, Rows
from tests.simulation.checkers.ledger import Ledger, Watched, chain_of

FAILURES = 3
"""So many failed tasks make a broken spec: the product's taskUnhealthinessThreshold."""
_DECIDED_S = 60.0
"""How old a tombstone's plan may be when it is carried out, since a spec was posted again."""
_TOMBSTONES = """
    SELECT supervisor_id FROM supervisor_specs s
    WHERE spec IS NULL AND same_as IS NULL AND version =
        (SELECT max(version) FROM supervisor_specs n WHERE n.supervisor_id = s.supervisor_id)
"""
_FAILED = "SELECT count(*) FROM tasks WHERE generation_id = ? AND status = 'FAILED' AND NOT lost"
_NEWER = """
    SELECT count(*) FROM supervisor_specs s JOIN generations g ON g.supervisor_id = s.supervisor_id
    WHERE g.id = ? AND s.version > g.spec_version
        AND (s.spec IS NOT NULL OR s.same_as IS NOT NULL)
"""
_UNREADABLE = """
    SELECT count(*) FROM supervisor_specs s
    JOIN generations g ON g.supervisor_id = s.supervisor_id AND g.spec_version = s.version
    WHERE g.id = ? AND json_extract(s.spec, '$.ofTheFuture') IS NOT NULL
"""
"""The member that makes a spec one of a newer release: see `processes/next_door.py`."""
_ENDED_WITH_IT = """
    SELECT count(*) FROM tasks t JOIN audit a ON a.subject = t.generation_id
    WHERE t.generation_id = ? AND a.action = 'discard'
        AND t.reason = json_extract(a.detail, '$.why')
"""
_RESET_ITSELF = "SELECT count(*) FROM audit WHERE action = 'reset-automatically'"


def nothing_is_given_up_without_cause(ledger: Ledger, now: Rows, world: Watched) -> Iterator[str]:
    """Look at each generation that was discarded, and each offset that was reset, since then."""
    db, at = world.store_connection, world.clock.monotonic()
    for row in db.execute(_TOMBSTONES):
        ledger.tombstones[row[0]] = at
    gone = _newly_discarded(ledger, now)
    for generation in gone:
        lawful = (
            _was_reset(ledger, now, generation)
            or _follows(gone, now, generation)
            or (not _lived(db, generation) and _is_over(ledger, db, generation, at))
        )
        if not lawful:
            yield f"P15 {generation.id} was discarded, and nothing allows that"
    if now.resets > ledger.rows.resets:
        yield from _resets_of_its_own(ledger, now, world)


def _newly_discarded(ledger: Ledger, now: Rows) -> list[Generation]:
    discarded = []
    for generation in now.generations.values():
        old = ledger.rows.generations.get(generation.id)
        if generation.state == "DISCARDED" and (old is None or old.state != "DISCARDED"):
            discarded.append(generation)
    return discarded


def _was_reset(ledger: Ledger, now: Rows, generation: Generation) -> bool:
    for part, mine in now.ranges.get(generation.id, {}).items():
        row = now.committed.get(part)
        if row is None or row.epoch != mine.epoch:
            return True
        chains = ledger.chains.get(part, [])
        if chains and chain_of(ledger, now, generation.id, part) is not chains[-1]:
            return True  # the partition went and came again: its epochs begin anew
    return False


def _follows(gone: list[Generation], now: Rows, generation: Generation) -> bool:
    mine = now.ranges.get(generation.id, {}).keys()
    return any(
        other.supervisor == generation.supervisor
        and other.ordinal < generation.ordinal
        and mine & now.ranges.get(other.id, {}).keys()
        for other in gone
    )


def _lived(db: sqlite3.Connection, generation: Generation) -> bool:
    """Tell whether a replica of it ran until it was given up: then it ended in the same words."""
    return bool(db.execute(_ENDED_WITH_IT, (generation.id,)).fetchone()[0])


def _is_over(ledger: Ledger, db: sqlite3.Connection, generation: Generation, at: float) -> bool:
    if at - ledger.tombstones.get(generation.supervisor, float("-inf")) <= _DECIDED_S:
        return True
    failed, unreadable, newer = (
        db.execute(q, (generation.id,)).fetchone()[0] for q in (_FAILED, _UNREADABLE, _NEWER)
    )
    return bool((failed >= FAILURES or unreadable > 0) and newer > 0)


def _resets_of_its_own(ledger: Ledger, now: Rows, world: Watched) -> Iterator[str]:
    by_itself = world.store_connection.execute(_RESET_ITSELF).fetchone()[0]
    before, ledger.resets_itself = ledger.resets_itself, by_itself
    if by_itself - before != now.resets - ledger.rows.resets:
        return  # a user asked as well: whose it is cannot be told
    for part, row in now.committed.items():
        old = ledger.rows.committed.get(part)
        if old is None or old.epoch == row.epoch:
            continue
        next_one = _reached_before(ledger, part)
        if world.kafka.holds(part.topic, part.partition, old.topic_id, next_one):
            where = f"{part.topic}:{part.partition}"
            yield f"P16 {where} was reset by itself at {next_one}, which Kafka holds"


def _reached_before(ledger: Ledger, part: Part) -> int:
    return ledger.chains[part][-2].reached
