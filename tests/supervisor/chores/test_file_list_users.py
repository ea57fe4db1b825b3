"""Who reads lists of files: with no transaction open while a list becomes what it is read for."""

import ast
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import event

import supervisor
from supervisor.chores import exports, file_lists
from supervisor.chores import segments as life
from supervisor.chores.compaction import candidates, compacting
from supervisor.chores.segments import SegmentSelection
from supervisor.core.model.listed_segments import SegmentWindow
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Store, Transaction
from supervisor.services.tables import queries, warehouse
from supervisor.services.tables.queries import TableQueries
from supervisor.views.tables.files import Journals
from tests.supervisor.chores.compactions import TARGET, Dock
from tests.supervisor.core.snapshots import HOUR, TOPIC

SOURCES = Path(supervisor.__file__).parent
WHOLE_LISTS = {"of_data_source", "of_supervisor", "choose"}
"""Methods that read all of a list, with spans, in the caller's transaction."""
FEW_FILES = {"control/desired_state.py"}
"""It reads the inputs of one compaction, whose number is bounded."""


@dataclass
class CountedStore:
    """A store that knows how many of its transactions are open."""

    store: Store
    open: int = 0

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._counted(self.store.reading())

    def writing(self) -> AbstractContextManager[Transaction]:
        return self._counted(self.store.writing())

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        return self._counted(self.store.leading(term))

    def on_added(self, heard: Heard) -> None:
        self.store.on_added(heard)

    @contextmanager
    def _counted(self, opened: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
        self.open += 1
        try:
            with opened as tx:
                yield tx
        finally:
            self.open -= 1


@pytest.fixture
def counted(store: Store) -> CountedStore:
    return CountedStore(store)


@pytest.fixture
def dock(counted: CountedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dock:
    """A table of five files, in pages of two, that is exported and compacted by a rule."""
    monkeypatch.setattr(file_lists, "FILES_AT_ONCE", 2)
    monkeypatch.setattr(file_lists, "SPANS_OF_AT_ONCE", 2)
    dock = Dock(counted, tmp_path / "warehouse", ExportFormat.DELTA)
    for _ in range(5):
        dock.publish_range()
    return dock


def _tables(dock: Dock) -> TableQueries:
    class NoJournals:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"nobody needs {name}")

    journals: Journals = NoJournals()  # type: ignore[assignment]
    registry = NoJournals()
    return TableQueries(
        dock.store,
        registry,  # type: ignore[arg-type]
        dock.leadership,
        dock.clock,
        str(dock.root),
        journals,
    )


def _lists_files(dock: Dock) -> None:
    found = _tables(dock).files(TOPIC, with_journaled=False)
    assert {file.path for file in found.files} == set(dock.published())


def _lists_segments(dock: Dock) -> None:
    found, following = dock.segments.page(TOPIC, None, None, SegmentWindow(used=True))
    assert ({each.file.path for each in found}, following) == (set(dock.published()), None)


def _exports(dock: Dock) -> None:
    dock.export(ExportFormat.DELTA)
    assert dock.row(ExportFormat.DELTA).sequence > 0


def _names_copies(dock: Dock) -> None:
    dock.export(ExportFormat.DELTA)
    found = _tables(dock).warehouse_files()
    assert {file.path for file in found.files} == set(dock.published())


def _compacts(dock: Dock) -> None:
    dock.compacting.set_rule(TOPIC, TARGET, 0 * HOUR, "me")
    assert dock.compacting.run_once() == 1


def _compacts_on_demand(dock: Dock) -> None:
    [begun] = dock.compact()
    assert len(begun.inputs) == 5


@pytest.mark.parametrize(
    ("module", "name", "use"),
    [
        (queries, "published", _lists_files),
        (life, "listed", _lists_segments),
        (exports, "files_of", _exports),
        (exports, "declared_of", _exports),
        (warehouse, "files_of", _names_copies),
        (compacting, "batches", _compacts),
        (candidates, "joined", _compacts),
        (candidates, "columns_of", _compacts_on_demand),
        (candidates, "shares_of", _compacts_on_demand),
    ],
)
def test_no_transaction_is_open_while_a_list_becomes_an_answer(
    dock: Dock,
    counted: CountedStore,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    name: str,
    use: Callable[[Dock], None],
) -> None:
    """Goal: however long it takes, no lock is held and no session idles in its transaction."""
    works, open_then = getattr(module, name), list[int]()

    def watched(*given: object, **named: object) -> object:
        open_then.append(counted.open)
        return works(*given, **named)

    monkeypatch.setattr(module, name, watched)
    use(dock)

    assert set(open_then) == {0}


def test_marking_a_whole_table_reads_no_spans(dock: Dock) -> None:
    """Goal: retention of a large table holds the write lock for its marks alone."""
    read = _spans_read(dock, lambda: dock.segments.mark_unused(TOPIC, SegmentSelection(), "me"))

    assert read == 0


def _spans_read(dock: Dock, act: Callable[[], object]) -> int:
    """Return how many statements about spans `act` sends."""
    store = dock.store.sound
    assert isinstance(store, CountedStore)
    statements: list[str] = []

    def note(*given: object) -> None:
        statements.append(str(given[2]))

    engines = [vars(store.store)[name] for name in ("_engine", "_writers")]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    act()
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)
    assert statements
    return sum("segment_spans" in each for each in statements)


def test_nobody_reads_a_list_of_any_size_in_one_transaction() -> None:
    calls = {
        (file.relative_to(SOURCES).as_posix(), node.func.attr)
        for file in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "segments"
    }
    assert {site for site in calls if site[1] in WHOLE_LISTS and site[0] not in FEW_FILES} == set()
    assert {"keys", "listed", "spans"} <= {name for _, name in calls}, "else nothing is looked at"
