"""T2, T3: which files may be deleted, by whom, and what an export names.

A file goes once it is condemned, by the queue of condemned files alone, and while no export that
is switched on names it; who reads the version before that has time to end.
"""

from collections.abc import Iterator, Mapping, Sequence

from tests.simulation.checkers.ledger import Exported, Watched
from tests.simulation.checkers.tables.rows import TableFile, TableLedger

_QUEUE = "segment-files"
_NAMED_REJECTS = (
    "SELECT 1 FROM publications WHERE rejects IS NOT NULL AND json_extract(rejects, '$.path') = ?"
)
_EXPORTS = "SELECT data_source, format, enabled, sequence, exported_at FROM exports"
_NEWEST = "SELECT next_seq - 1 FROM event_queues WHERE container = ? AND name = ?"
READERS_S = 1.8
"""Readers have at least the delay of the queue of files, by clocks that differ a little."""


def files_go_rightly(
    ledger: TableLedger, now: Mapping[str, TableFile], world: Watched
) -> Iterator[str]:
    """Look at each deletion and at each export of a list since the last look."""
    news = world.log[ledger.heard :]
    ledger.heard = len(world.log)
    by_path: dict[str, TableFile] = {}
    for happening in news:
        if happening.kind == "file deleted":
            by_path = by_path or {file.path: file for file in now.values()}
            path, queue = str(happening.detail["path"]), str(happening.detail["queue"])
            yield from _deleted(ledger, by_path.get(path), path, queue, world=world)
        elif happening.kind == "exported":
            export = str(happening.detail["table"]), str(happening.detail["format"])
            yield from _exported(ledger, export, world)


def _deleted(
    ledger: TableLedger, file: TableFile | None, path: str, queue: str, *, world: Watched
) -> Iterator[str]:
    if world.store_connection.execute(_NAMED_REJECTS, (path,)).fetchone() is not None:
        yield f"T2 {path} was deleted, a publication names it"
    if file is None:
        return
    if file.deleted_at is None:
        yield f"T2 {path} was deleted by {queue}, it is not condemned"
    if queue != _QUEUE:
        yield f"T2 {path} was deleted by {queue or 'nobody'}, which is the business of {_QUEUE}"
    yield from _named(ledger, file, world)


def _named(ledger: TableLedger, file: TableFile, world: Watched) -> Iterator[str]:
    at = world.clock.monotonic()
    condemned = ledger.condemned_since.get(file.id, at)
    below = file.path.partition("/")[2]
    for export, versions in world.tables.exported().items():
        if export[0] != file.table or ledger.enabled_since.get(export, at) > condemned:
            continue
        last = max((n for n, v in enumerate(versions) if below in v.files), default=None)
        if last is None:
            continue
        if last == len(versions) - 1:
            yield f"T3 {file.path} was deleted, {export[1]} names it"
        elif world.tables.grace_s and at - versions[last + 1].at < READERS_S:
            read_s = at - versions[last + 1].at
            yield f"T3 {file.path} was deleted {read_s:.1f} s after {export[1]} named it"


def _exported(ledger: TableLedger, export: tuple[str, str], world: Watched) -> Iterator[str]:
    versions = world.tables.exported()[export]
    first = ledger.versions[export]
    ledger.versions[export] = len(versions)
    for number in range(first, len(versions)):
        version = versions[number]
        before = versions[number - 1] if number else version
        if version.sequence < before.sequence:
            lists = f"{before.sequence} to {version.sequence}"
            yield f"T3 {export[1]} went back from the list {lists}"
        if version.term < before.term:
            yield f"T3 {export[1]} was written in term {version.term} after {before.term}"
        absent = [p for p in version.files if world.warehouse.rows(f"{export[0]}/{p}") is None]
        if absent and number == len(versions) - 1:
            yield f"T3 {export[1]} names {absent[0]}, which is not there"


def exports_keep_their_word(
    ledger: TableLedger, now: Mapping[str, TableFile], world: Watched
) -> Iterator[str]:
    """An export that has just become equal to the newest list names exactly its files."""
    at = world.clock.monotonic()
    for table, name, enabled, sequence, exported_at in world.store_connection.execute(
        _EXPORTS
    ).fetchall():
        export = table, name
        if not enabled:
            ledger.enabled_since.pop(export, None)
        else:
            ledger.enabled_since.setdefault(export, at)
        moved = ledger.advanced.get(export) != (sequence, exported_at)
        ledger.advanced[export] = sequence, exported_at
        if enabled and moved and exported_at is not None:
            yield from _equal(export, sequence, now, world)


def _equal(
    export: tuple[str, str], sequence: int, now: Mapping[str, TableFile], world: Watched
) -> Iterator[str]:
    queue = (f"table:{export[0]}", f"export-{export[1]}")
    newest = world.store_connection.execute(_NEWEST, queue).fetchone()
    term = world.store_connection.execute("SELECT term FROM leader_term").fetchone()[0]
    versions = world.tables.exported().get(export, ())
    if newest is None or newest[0] != sequence or (versions and versions[-1].term != term):
        return  # the list has changed since; or a leader of before has, and the fence is to come
    yield from differences(export, now, versions)


def differences(
    export: tuple[str, str], now: Mapping[str, TableFile], versions: Sequence[Exported]
) -> Iterator[str]:
    """Say in what the newest version of an export differs from its table."""
    table, name = export
    used = {f.path.partition("/")[2] for f in now.values() if f.table == table and f.used}
    named = set(versions[-1].files) if versions else set()
    for what, paths in (("lacks", used - named), ("still names", named - used)):
        if paths:
            yield f"T3 {name} of {table} {what} {len(paths)} files, the first is {min(paths)}"
