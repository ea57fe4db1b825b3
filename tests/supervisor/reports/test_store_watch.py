"""What the leader knows of the store of reports: whether there is one to search."""

from pathlib import Path

import pytest

from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.sql import SqlReports
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.store_watch import StoreWatch
from tasks.reporting.record import ReportRecord


def test_a_store_is_missing_until_a_persister_makes_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/reports.db"
    database = ReportDatabase(url)
    watch = StoreWatch(SqlReports(database))
    assert watch.nothing_stored() is None, "nobody has looked yet"

    watch.run_once()
    assert "start a persister" in str(watch.nothing_stored())
    assert not (tmp_path / "reports.db").exists(), "a look makes no file"
    migrate_reports(url)
    watch.run_once()
    assert watch.nothing_stored() is None
    database.close()


def test_a_store_that_does_not_answer_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = ReportDatabase(f"sqlite:///{tmp_path}/reports.db")
    store: ReportStore = SqlReports(database)
    watch = StoreWatch(store)
    watch.run_once()
    before = watch.nothing_stored()

    def away(record_id: str) -> ReportRecord | None:
        raise StoreAway(f"no answer about {record_id}")

    monkeypatch.setattr(store, "get", away)
    watch.run_once()
    assert watch.nothing_stored() == before is not None
    watch.forget()
    watch.run_once()
    assert watch.nothing_stored() is None, "a new term knows nothing"
    database.close()


def test_what_is_switched_off_says_so_without_a_look() -> None:
    watch = StoreWatch(None)
    watch.run_once()
    assert "TIDEGATE_REPORTS=off" in str(watch.nothing_stored())
