"""T1: a table has what was published, less what was taken out of it; a swap happens whole or not.

published ──► used ◄──► unused ──► condemned          each step but a swap is audited
               └── replaced, all inputs of one file at once ──► the file has their rows
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from tests.simulation.checkers.ledger import Watched
from tests.simulation.checkers.tables.rows import (
    CompactionRow,
    Contents,
    Marking,
    TableFile,
    TableLedger,
    by_table,
    markings,
    read_compactions,
    seconds_of,
)

_START = "2026-01-05 12:00:00"
"""When every run begins, by clocks that are right."""


def tables_change_rightly(
    ledger: TableLedger, now: Mapping[str, TableFile], world: Watched
) -> Iterator[str]:
    """Follow every file from the last look to this one."""
    if now == ledger.files:
        return
    compactions = read_compactions(world.store_connection)
    marked = list(markings(world.store_connection, ledger))
    for file in now.values():
        if file.id not in ledger.files:
            yield from _begun(ledger, file, now, compactions, world)
    for gone in ledger.files.keys() - now.keys():
        yield f"T1 the row of {gone} is gone"
    taken, put_back = Counter[str](), Counter[str]()
    for file in now.values():
        old = ledger.files.get(file.id, file._replace(unused_at=None, replaced_by=None))
        yield from _changed(ledger, old, file, now, world)
        if file.unused_at != old.unused_at and file.replaced_by is None:
            taken[file.table] += not file.used
            put_back[file.table] += not old.used
            if not file.used:
                yield from _by_retention(file, marked, world)
    for action, seen in (("mark-unused", taken), ("mark-used", put_back)):
        audited = by_table(marked, action)
        if +seen != +audited:
            yield f"T1 {action}: {dict(+seen)} files were, the audit says {dict(+audited)}"
    yield from _swaps_are_whole(now, compactions)


def _begun(
    ledger: TableLedger,
    file: TableFile,
    now: Mapping[str, TableFile],
    compactions: Mapping[str, CompactionRow],
    world: Watched,
) -> Iterator[str]:
    rows = world.warehouse.rows(file.path)
    if rows is None:
        yield f"T1 lost-write: {file.path} is new in {file.table} and not on disk"
    ledger.contents[file.id] = Counter(map(tuple, rows or ()))
    ledger.origins[file.id] = frozenset({file.id})
    if file.compaction is None:
        return
    row = compactions.get(file.compaction)
    inputs = () if row is None else row.inputs
    ledger.origins[file.id] = frozenset().union(*(ledger.origins.get(i, ()) for i in inputs))
    for each in inputs:
        old, present = ledger.files.get(each), now.get(each)
        if present is None or present.replaced_by != file.compaction:
            yield f"T1 {file.compaction} took {each}, which is not replaced by it"
        if old is not None and not old.used:
            yield f"T1 {file.compaction} took {each}, which had left the table"
    yield from compared(file.path, _sum(ledger, inputs), ledger.contents[file.id])


def _sum(ledger: TableLedger, files: tuple[str, ...]) -> Contents:
    total: Contents = Counter()
    for each in files:
        total.update(ledger.contents.get(each, Counter()))
    return total


def compared(what: str, wanted: Contents, held: Contents) -> Iterator[str]:
    """Say which rows are lost or doubled."""
    for fault, rest in (("lost-write", wanted - held), ("duplicate", held - wanted)):
        if rest:
            yield f"T1 {fault}: {rest.total()} records in {what}, the first is {min(rest)}"


def _changed(
    ledger: TableLedger,
    old: TableFile,
    file: TableFile,
    now: Mapping[str, TableFile],
    world: Watched,
) -> Iterator[str]:
    at = world.clock.monotonic()
    if old.replaced_by is not None and old.replaced_by != file.replaced_by:
        yield f"T1 {file.id} was replaced by {old.replaced_by}, then by {file.replaced_by}"
    if old.deleted_at is not None and (file.used or file.deleted_at is None):
        yield f"T1 {file.id} had been condemned and came back"
    if file.replaced_by is not None and f"{file.replaced_by}/0" not in now:
        yield f"T1 {file.id} is replaced by {file.replaced_by}, which wrote no file"
    if file.used and file.replaced_by is not None:
        yield f"T1 {file.id} is part of {file.table} beside what replaced it"
    if file.unused_at != old.unused_at:
        ledger.unused_since[file.id] = at
    if file.deleted_at is not None and old.deleted_at is None:
        ledger.condemned_since[file.id] = at
        waited_s = at - ledger.unused_since.get(file.id, at)
        if file.used:
            yield f"T2 {file.id} is condemned and part of {file.table}"
        elif waited_s < world.tables.grace_s:
            yield f"T2 {file.id} was condemned {waited_s:.1f} s after it left {file.table}"


def _by_retention(file: TableFile, marked: list[Marking], world: Watched) -> Iterator[str]:
    """What retention alone has taken out is older than the rule says."""
    actors = {m.actor for m in marked if m.table == file.table and m.action == "mark-unused"}
    rule = world.store_connection.execute(
        "SELECT max(keep_seconds) FROM retention_rules WHERE data_source IN (?, ?)",
        (file.table, file.table.removesuffix("__errors")),
    ).fetchone()[0]
    if actors != {"retention"} or rule is None or not world.tables.grace_s:
        return
    age_s = seconds_of(_START) + world.clock.monotonic() - seconds_of(file.ends)
    if age_s * 1.03 + 1 < rule:
        yield f"T1 retention took {file.id}, {age_s:.0f} s old, the rule keeps {rule} s"


def _swaps_are_whole(
    now: Mapping[str, TableFile], compactions: Mapping[str, CompactionRow]
) -> Iterator[str]:
    replaced = Counter(file.replaced_by for file in now.values() if file.replaced_by)
    inputs, workers = Counter[str](), Counter[str]()
    for row in compactions.values():
        done = row.status == "SUCCESS"
        if done != (f"{row.id}/0" in now) or replaced[row.id] != done * len(row.inputs):
            yield f"T1 {row.id} is {row.status}, {replaced[row.id]} of its inputs are replaced"
        if row.ended_at is None:
            inputs.update(row.inputs)
            workers[row.worker] += bool(row.worker)
    for each, number in inputs.items():
        if number > 1:
            yield f"T1 {each} is an input of {number} live compactions"
    for worker, number in workers.items():
        if number > 1:
            yield f"T1 {worker} has {number} compactions at once"


def tables_are_what_was_published(
    ledger: TableLedger, now: Mapping[str, TableFile], world: Watched
) -> Iterator[str]:
    """The used files on disk have the rows of those published files whose rows are not out."""
    for table in sorted({file.table for file in now.values()}):
        held: Contents = Counter()
        origins: list[str] = []
        for file in now.values():
            if file.table == table and file.used:
                rows = world.warehouse.rows(file.path)
                if rows is None:
                    yield f"T1 lost-write: the used file {file.path} is not on disk"
                held.update(map(tuple, rows or ()))
                origins += ledger.origins.get(file.id, ())
        yield from compared(table, _sum(ledger, tuple(origins)), held)
        if len(set(origins)) < len(origins):
            yield f"T1 duplicate: a published file of {table} is in two of its files"
