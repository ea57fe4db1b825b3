"""Exports under crashes, kills, repeats, and two overlords at once.

Slow: each fault is planted before and after every step of an export.
"""

import random
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from supervisor.core.tables.exports import ExportChange, ExportVersion
from supervisor.core.values.errors import ExportUnavailable, LeaseLost
from supervisor.core.values.export_formats import ExportFormat
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from supervisor.ports.tables.exports import OpenTable, TableFormat
from tests.sqlite_memory import empty_file
from tests.supervisor.chores.exports.exports import DELTA, ICEBERG, Harbour
from tests.supervisor.chores.exports.exports_lives import life_of
from tests.supervisor.chores.exports.exports_read import names_in, rows_in, version_of
from tests.supervisor.chores.exports.test_exporting import assert_equal

BOTH = pytest.mark.parametrize("table_format", list(ExportFormat))


@pytest.fixture
def harbour(store: Store, tmp_path: Path) -> Harbour:
    return Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)


# -- a process that ends ---------------------------------------------------------------------------


@pytest.mark.chaos
@BOTH
@pytest.mark.parametrize("place", ["export:decided", "export:committed"])
def test_a_process_that_is_killed_around_its_commit_leaves_no_double(
    tmp_path: Path, table_format: ExportFormat, place: str
) -> None:
    """Goal: kill -9 before the commit loses nothing, after it repeats nothing."""
    url = f"sqlite:///{empty_file(tmp_path / 'metadata.db')}"
    store = SqlStore(url, lease_ttl=timedelta(seconds=6))
    harbour = Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)
    first = harbour.publish_range()
    harbour.export(table_format)
    stood = version_of(harbour, table_format)
    harbour.publish_range()
    harbour.mark(first, used=False)

    assert life_of(harbour, url, table_format, f"{place}:kill").live() == -signal.SIGKILL
    assert version_of(harbour, table_format) == stood + (place == "export:committed")
    assert harbour.queue(table_format).outstanding_events > 0
    harbour.export(table_format)

    assert version_of(harbour, table_format) == stood + 1
    assert_equal(harbour, table_format)
    assert harbour.queue(table_format).outstanding_events == 0
    store.close()


@pytest.mark.chaos
@BOTH
def test_a_process_that_is_killed_inside_its_commit_is_made_up_for(
    tmp_path: Path, table_format: ExportFormat
) -> None:
    """Goal: at whatever instruction of the library: either the version is there, or it is not."""
    url = f"sqlite:///{empty_file(tmp_path / 'metadata.db')}"
    store = SqlStore(url, lease_ttl=timedelta(seconds=6))
    harbour = Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)
    harbour.publish_range()
    harbour.export(table_format)
    for millis in (1, 3, 6, 10, 20):
        stood = version_of(harbour, table_format)
        harbour.publish_range()
        life_of(harbour, url, table_format, f"export:decided:kill-in={millis}").live()
        assert version_of(harbour, table_format) in {stood, stood + 1}
        harbour.export(table_format)
        assert version_of(harbour, table_format) == stood + 1
        assert_equal(harbour, table_format)
    store.close()


# -- two overlords ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Late:
    """A format whose caller is held up just before its commit: a story happens meanwhile."""

    tables: TableFormat
    meanwhile: Callable[[], None]
    opening: Callable[[], None] = lambda: None
    """Happens just before a table is opened."""

    def open(self, data_source: str) -> "_Held":
        self.opening()
        return _Held(self.tables.open(data_source), self.meanwhile)


@dataclass(frozen=True)
class _Held:
    opened: OpenTable
    meanwhile: Callable[[], None]

    @property
    def held(self) -> Mapping[str, int]:
        return self.opened.held

    @property
    def standing(self) -> ExportVersion:
        return self.opened.standing

    def commit(self, change: ExportChange, sequence: int, now: datetime) -> ExportVersion:
        self.meanwhile()
        return self.opened.commit(change, sequence, now)


@BOTH
def test_a_deposed_overlord_that_commits_late_loses(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: its list is older than what its successor has exported, and stays out."""
    first = harbour.publish_range()
    sound = harbour.formats[table_format]

    def meanwhile() -> None:
        harbour.take_over()
        harbour.formats[table_format] = sound
        harbour.mark(first, used=False)
        harbour.publish_range()
        harbour.export(table_format)
        assert_equal(harbour, table_format)

    harbour.formats[table_format] = Late(sound, meanwhile)
    old = harbour.processor(table_format, harbour.leadership)
    with pytest.raises(LeaseLost):
        old.run_once()  # the commit failed, and so did to record it

    assert_equal(harbour, table_format)
    harbour.export(table_format)
    assert_equal(harbour, table_format)


@BOTH
def test_a_term_begins_with_a_commit_that_shuts_late_ones_out(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: also if the successor finds nothing to change, so that no list of its own follows."""
    harbour.publish_range()
    harbour.export(table_format)
    second = harbour.publish_range()
    sound = harbour.formats[table_format]

    def meanwhile() -> None:
        harbour.take_over()
        harbour.formats[table_format] = sound
        harbour.compare_all()
        harbour.mark(second, used=False)
        harbour.export(table_format)
        assert_equal(harbour, table_format)

    harbour.formats[table_format] = Late(sound, meanwhile)
    old = harbour.processor(table_format, harbour.leadership)
    with pytest.raises(LeaseLost):
        old.run_once()

    assert_equal(harbour, table_format)


@BOTH
def test_a_deposed_overlord_that_commits_first_is_overruled(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: what it did not know of has an event, which its successor handles."""
    harbour.publish_range()
    harbour.export(table_format)
    first = harbour.publish_range()
    sound = harbour.formats[table_format]

    def meanwhile() -> None:
        harbour.take_over()
        harbour.mark(first, used=False)

    harbour.formats[table_format] = Late(sound, meanwhile)
    old = harbour.processor(table_format, harbour.leadership)
    with pytest.raises(LeaseLost):
        old.run_once()
    harbour.formats[table_format] = sound
    assert names_in(harbour, table_format) != set(harbour.published())  # a list of before

    harbour.export(table_format)
    assert_equal(harbour, table_format)


@BOTH
def test_a_handler_that_was_held_up_never_goes_back_to_its_own_list(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: in one term, where no lease stops it; a slow handler may run beside its successor."""
    first = harbour.publish_range()
    sound = harbour.formats[table_format]

    def meanwhile() -> None:
        harbour.formats[table_format] = sound
        harbour.mark(first, used=False)
        harbour.publish_range()
        harbour.export(table_format)

    harbour.formats[table_format] = Late(sound, lambda: None, opening=meanwhile)
    harbour.processor(table_format).run_once()

    assert_equal(harbour, table_format)


@BOTH
def test_of_two_commits_against_one_version_one_fails_and_comes_again(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: a leader whose predecessor wrote under its hands looks anew."""
    harbour.publish_range()
    harbour.export(table_format)
    sound = harbour.formats[table_format]
    second = harbour.publish_range()
    stale = sound.open("clicks")
    harbour.export(table_format)

    with pytest.raises(ExportUnavailable):
        stale.commit(ExportChange(remove=tuple(stale.held)), 99, harbour.clock.now())

    assert_equal(harbour, table_format)
    assert second in names_in(harbour, table_format)


# -- everything at once ----------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_at_every_step_a_reader_sees_a_list_as_it_was(
    harbour: Harbour, table_format: ExportFormat, seed: int
) -> None:
    """Goal: whatever happens in whatever order, the export is one of the lists, never an older
    one than before, and in the end the newest."""
    chance = random.Random(seed)
    lists = [harbour.published()]
    reached = 0
    for _ in range(12):
        _something(harbour, table_format, chance)
        if harbour.published() != lists[-1]:
            lists.append(harbour.published())
        if harbour.row(table_format).standing.version is not None:
            names, rows = names_in(harbour, table_format), rows_in(harbour, table_format)
            matching = [n for n, each in enumerate(lists) if set(each) == names]
            assert matching
            assert matching[-1] >= reached
            reached = next(n for n in matching if n >= reached)
            assert rows == sum(lists[reached].values(), Counter())
    harbour.publish_range()
    harbour.export(table_format)
    assert_equal(harbour, table_format)


def _something(harbour: Harbour, table_format: ExportFormat, chance: random.Random) -> None:
    with harbour.store.reading() as tx:
        segments = tx.segments.choose("clicks")
    match chance.choice(["publish", "publish", "mark", "mark", "export", "overlord", "again"]):
        case "publish":
            harbour.publish_range(chance.randint(1, 3))
        case "mark" if segments:
            some = chance.sample(segments, chance.randint(1, len(segments)))
            harbour.mark(*(s.file.path for s in some), used=chance.random() < 0.5)
        case "export":
            harbour.export(table_format)
        case "overlord":
            harbour.take_over()
        case "again":
            harbour.compare_all()
