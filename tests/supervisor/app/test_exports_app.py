"""The wired overlord exports by itself, with the catalog in the metadata database it works on."""

from collections import Counter
from pathlib import Path

from pyiceberg.table import StaticTable

from supervisor.app.overlord import Overlord
from supervisor.chores.segments import SegmentSelection
from supervisor.core.tables.exports import ExportState
from supervisor.metadata.store import SqlStore
from supervisor.settings.settings import Settings
from tests.supervisor.app.test_app import database, running, settings
from tests.supervisor.chores.exports.exports import DELTA, ICEBERG, Harbour, ids_in
from tests.supervisor.chores.exports.exports_read import delta_rows
from tests.supervisor.core.snapshots import TOPIC
from tests.waiting import wait_until

__all__ = ["database", "settings"]


def rows_in(overlord: Overlord) -> list[Counter[tuple[int, int]]]:
    """What readers of each format find where the API says."""
    delta, iceberg = overlord.services.tables.exports(TOPIC)
    assert delta.location is not None
    assert iceberg.location is not None
    tables = (
        delta_rows(delta.location),
        StaticTable.from_metadata(iceberg.location).scan().to_arrow(),
    )
    return [ids_in(table) for table in tables]


def test_a_new_leader_exports_what_is_behind_and_follows_what_happens_then(
    settings: Settings, database: SqlStore
) -> None:
    """Goal: spec, queues, handlers, libraries and catalog, wired as they are shipped."""
    harbour = Harbour(database, Path(settings.warehouse).absolute(), DELTA, ICEBERG)
    first, second = harbour.publish_range(), harbour.publish_range()
    files = harbour.published()
    with database.reading() as tx:
        [gone] = [s.id for s in tx.segments.choose(TOPIC) if s.file.path == first]
    harbour.leadership.stop()

    with running(settings, database) as overlord:
        views = overlord.services.tables
        wait_until(lambda: {e.state for e in views.exports(TOPIC)} == {ExportState.EQUAL})
        assert rows_in(overlord) == [files[first] + files[second]] * 2

        overlord.services.segments.mark_unused(TOPIC, SegmentSelection(ids=[gone]), "somebody")
        wait_until(lambda: not (settings.warehouse / first).exists())
        assert rows_in(overlord) == [files[second]] * 2
