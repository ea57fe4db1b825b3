"""Hostile records and logs against real stores: endless lines, escapes, names with path parts."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from supervisor.adapters.reports.files import FileReports
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportQuery
from supervisor.reports.pipeline import Pipeline
from supervisor.reports.storing import Storing
from tasks.reporting.sizes import TOPIC_BYTES
from tasks.sending.log_tail import LogTail
from tasks.worker.reporting.reporter import log_record
from tests.conformance.reports.log_chunks import chunk, text_of
from tests.conformance.reports.log_stores import LogStores
from tests.supervisor.reports.shelves import WITHIN_S, Ends, Shelves, incoming, record

_LINE_BYTES = 10 * 1024 * 1024
_HOSTILE = (
    "../../outside",
    "/tmp/outside",  # noqa: S108 -- a name that is used as no path
    "..",
    "a/../../outside",
    "outside.seg",
    "%2e%2e%2foutside",
    "<script>alert(1)</script>",
    "\x1b]0;owned\x07\x1b[2J",
)
"""Names of tasks that anybody may send."""


def _store(logs: LogStore, bodies: Sequence[bytes]) -> list[StoreOutcome]:
    ends, shelves = Ends(), Shelves()
    pipeline = Pipeline(Storing(shelves.reports, logs, shelves.letters))
    pipeline.start()
    pipeline.submit(incoming(bodies, ends))
    outcomes = ends.await_all(len(bodies))
    pipeline.stop(WITHIN_S)
    return [outcomes[number] for number in range(len(bodies))]


def _files(folder: Path) -> set[Path]:
    return {each for each in folder.rglob("*") if each.is_file()}


def test_a_line_of_ten_megabytes_is_stored_whole_by_records_that_fit(
    log_store: LogStore, tmp_path: Path
) -> None:
    """Goal: its end, and the lines around it, read back byte for byte."""
    text = b"before\n" + b"x" * _LINE_BYTES + b"\x1b[2J<b>end</b>\nbehind\n"
    folder = tmp_path / "task-logs"
    folder.mkdir()
    (folder / "task-1.log").write_bytes(text)
    tail = LogTail(folder, lambda _: False)
    bodies: list[bytes] = []
    while pieces := [*tail.due(0.0)]:
        for piece in pieces:
            bodies.append(log_record(piece, "w-1").to_json().encode())
            tail.sent(piece)

    assert max(map(len, bodies)) < TOPIC_BYTES
    assert set(_store(log_store, bodies)) == {StoreOutcome.STORED}
    span = log_store.span("task-1", 0)
    assert span is not None
    assert span.is_whole
    stored = log_store.read("task-1", 0, 0, 2 * len(text))
    assert b"".join(each.content for each in stored) == text


@pytest.mark.parametrize("name", _HOSTILE)
def test_no_name_of_a_log_leads_out_of_the_folder(
    log_stores: LogStores, tmp_path: Path, name: str
) -> None:
    store = log_stores.open()
    before = _files(tmp_path.parent)
    assert [*store.put_many([chunk(b"a line\n", subject=name)])] == [StoreOutcome.STORED]

    assert text_of(store, name) == b"a line\n"
    inside = (tmp_path / "logs", tmp_path / "reports.db")
    for each in _files(tmp_path.parent) - before:
        assert any(str(each).startswith(str(place)) for place in inside), each
        assert "outside" not in each.name


@pytest.mark.parametrize("name", _HOSTILE)
def test_no_name_of_a_report_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    store = FileReports(tmp_path / "reports")
    hostile = record(name)
    store.put_many([hostile.model_copy(update={"worker": name, "supervisor": name})])

    assert [each.subject for each in store.list(ReportQuery(subject=name), 10)] == [name]
    store.close()
    assert {each.parent for each in _files(tmp_path)} == {tmp_path / "reports"}
    assert not [each for each in _files(tmp_path) if "outside" in each.name]
