"""Copies for exports that are lost, left half-written, or being made when the process is to end."""

import fcntl
import signal
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from supervisor.adapters.tables import widened_copies
from supervisor.chores.exports import Exporting
from supervisor.control.export_outbox import EXPORTS
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from supervisor.services.tables.warehouse import warehouse_files
from supervisor.verify.inventory import FileFindingKind
from supervisor.verify.warehouse import FilesProgress, inspect
from supervisor.views.tables.warehouse import WarehouseFiles
from tests.sqlite_memory import empty_file
from tests.supervisor.chores.exports.exports import DELTA, ICEBERG, Harbour
from tests.supervisor.chores.exports.exports_lives import life_of
from tests.supervisor.chores.exports.exports_read import names_in, rows_in, version_of
from tests.supervisor.chores.exports.test_widened import assert_right, publish, values_of
from tests.supervisor.core.snapshots import TOPIC

BOTH = pytest.mark.parametrize("table_format", list(ExportFormat))
HALF = "0" * 32


@pytest.fixture
def harbour(store: Store, tmp_path: Path) -> Harbour:
    return Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)


def copies_in(harbour: Harbour, ending: str = ".parquet") -> list[Path]:
    return sorted((harbour.root / TOPIC / "widened").rglob(f"*{ending}"))


def findings(harbour: Harbour) -> list[tuple[FileFindingKind, str]]:
    """What `verify --files` says of what lies in `widened`."""

    def ask() -> WarehouseFiles:
        answer = warehouse_files(harbour.store, str(harbour.root))
        return WarehouseFiles.model_validate(answer.model_dump(mode="json", by_alias=True))

    reported = inspect(harbour.root, ask, FilesProgress(), digests=False).findings
    below = f"{TOPIC}/widened/"
    return [
        (each.kind, each.path.removeprefix(below))
        for each in reported
        if each.path.startswith(below)
    ]


def below_widened(harbour: Harbour, path: Path) -> str:
    return path.relative_to(harbour.root / TOPIC / "widened").as_posix()


# -- lost ------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("harm", ["gone", "cut"])
def test_a_copy_that_is_lost_is_made_again(
    harbour: Harbour, table_format: ExportFormat, harm: str
) -> None:
    """Goal: the exported table is whole again with whatever comes next; no version is needed."""
    publish(harbour, "long", 7)
    publish(harbour, "double", 0.5)
    harbour.export(table_format)
    stood = version_of(harbour, table_format)
    [copy] = copies_in(harbour)
    content = copy.read_bytes()
    if harm == "gone":
        copy.unlink()
    else:
        copy.write_bytes(content[:-9])

    harbour.columns = ()
    harbour.publish_range()
    harbour.export(table_format)

    assert copy.read_bytes() == content
    assert_right(harbour, table_format)
    assert values_of(harbour, table_format) == [0.5, 7.0]
    assert version_of(harbour, table_format) == stood + 1


@BOTH
def test_a_lost_copy_that_comes_out_larger_is_named_with_its_new_size(
    harbour: Harbour, table_format: ExportFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a library of another version may write other bytes; readers go by the size."""
    publish(harbour, "long", 7)
    publish(harbour, "double", 0.5)
    harbour.export(table_format)
    [copy] = copies_in(harbour)
    size, named = copy.stat().st_size, names_in(harbour, table_format)
    copy.unlink()
    monkeypatch.setattr(widened_copies, "_BATCH_ROWS", 1)  # a row group for each row

    harbour.compare_all()
    harbour.export(table_format)

    assert copy.stat().st_size > size
    opened = harbour.formats[table_format].open(TOPIC)
    assert opened.held[copy.relative_to(harbour.root / TOPIC).as_posix()] == copy.stat().st_size
    assert names_in(harbour, table_format) == named
    assert_right(harbour, table_format)
    modified_ns = copy.stat().st_mtime_ns
    harbour.compare_all()
    harbour.export(table_format)
    assert copy.stat().st_mtime_ns == modified_ns


# -- half-written ----------------------------------------------------------------------------------


@pytest.mark.chaos
@BOTH
def test_what_a_process_leaves_that_is_killed_while_it_copies_is_removed(
    tmp_path: Path, table_format: ExportFormat
) -> None:
    url = f"sqlite:///{empty_file(tmp_path / 'metadata.db')}"
    store = SqlStore(url, lease_ttl=timedelta(seconds=6))
    harbour = Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)
    publish(harbour, "long", 7)
    harbour.export(table_format)
    publish(harbour, "double", 0.5)

    life = life_of(harbour, url, table_format, "export:copying:kill")
    assert life.live() == -signal.SIGKILL
    assert (len(copies_in(harbour, ".half")), copies_in(harbour)) == (1, [])
    assert values_of(harbour, table_format) == [7]
    assert findings(harbour) == [], "it is one that may be written now"
    harbour.export(table_format)

    assert (copies_in(harbour, ".half"), len(copies_in(harbour))) == ([], 1)
    assert_right(harbour, table_format)
    assert values_of(harbour, table_format) == [0.5, 7.0]
    store.close()


def test_what_another_process_is_writing_is_left_alone(harbour: Harbour) -> None:
    """Goal: an overlord that was deposed meanwhile may end its copy: it is the same one."""
    publish(harbour, "long", 7)
    publish(harbour, "double", 0.5)
    harbour.export(DELTA)
    [copy] = copies_in(harbour)
    copy.unlink()
    half = copy.with_name(f"{copy.name}.{HALF}.half")
    with half.open("wb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        harbour.compare_all()
        harbour.export(DELTA)
        assert (copy.exists(), half.exists()) == (True, True)
    copy.unlink()

    harbour.compare_all()
    harbour.export(DELTA)

    assert (copy.exists(), half.exists()) == (True, False)
    assert_right(harbour, DELTA)


def test_a_process_that_is_to_end_makes_no_further_copy(harbour: Harbour) -> None:
    """Goal: shutting down waits for one copy, not for gibibytes of them."""
    for _ in range(3):
        publish(harbour, "long", 7)
    publish(harbour, "double", 0.5)
    copies_seen: list[int] = []

    def stopping() -> bool:
        copies_seen.append(len(copies_in(harbour)))
        return bool(copies_in(harbour))

    copies = widened_copies.LocalCopies(harbour.root)
    handler = Exporting(DELTA, harbour.formats[DELTA], harbour.warehouse, copies)
    kit = ProcessorParts(harbour.store, harbour.clock, harbour.leadership.term, Meters(), stopping)
    EventProcessor(harbour.processor(DELTA).queue, EXPORTS, handler, kit).run_once()

    assert len(copies_in(harbour)) == 1
    assert harbour.queue(DELTA).outstanding_events > 0
    harbour.clock.advance(timedelta(minutes=1))
    harbour.export(DELTA)
    assert_right(harbour, DELTA)
    assert rows_in(harbour, DELTA) == sum(harbour.published().values(), Counter())


# -- verified --------------------------------------------------------------------------------------


def test_verify_finds_copies_that_are_lost_cut_or_not_of_their_file(harbour: Harbour) -> None:
    for _ in range(3):
        publish(harbour, "long", 7)
    publish(harbour, "double", 0.5)
    harbour.export(DELTA)
    assert findings(harbour) == []
    gone, cut, foreign = copies_in(harbour)
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:-9])
    pq.write_table(pq.read_table(foreign).slice(1), foreign)

    reported = findings(harbour)

    wrong = {gone: "missing", cut: "damaged", foreign: "damaged"}
    assert reported == [(kind, below_widened(harbour, path)) for path, kind in wrong.items()]
    harbour.compare_all()
    assert (FileFindingKind.MISSING, below_widened(harbour, gone)) not in findings(harbour), (
        "an export that is about to follow may be making it"
    )
    harbour.export(DELTA)
    assert findings(harbour) == []
    assert_right(harbour, DELTA)


def test_verify_finds_what_no_copy_can_be_called(harbour: Harbour) -> None:
    """Goal: copies of other types, from before, may stay with their file; nothing else may."""
    text = publish(harbour, "string", "a")
    publish(harbour, "long", 7)
    publish(harbour, "double", 0.5)
    harbour.export(ICEBERG)
    harbour.mark(text, used=False)
    harbour.export(ICEBERG)
    folder = copies_in(harbour)[0].parent
    assert len(copies_in(harbour)) > len([n for n in names_in(harbour, ICEBERG) if "widened" in n])
    assert findings(harbour) == []
    stray = [
        folder / "part-0.parquet",
        folder / "below" / f"{HALF}.parquet",
        folder.parent / HALF / f"{HALF}.parquet",
        folder.parent / f"{HALF}.parquet",
    ]
    for path in stray:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")

    orphans = sorted(("orphan", below_widened(harbour, path)) for path in stray)
    assert sorted(findings(harbour)) == orphans
