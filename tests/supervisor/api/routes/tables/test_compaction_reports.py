"""A compaction is read by the routes of tasks: its log from the store, its report from its row."""

from datetime import UTC, datetime
from typing import cast

from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.ports.reports.logs import StoredChunk
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tests.supervisor.api.routes.tables.test_compacted import compact
from tests.supervisor.api.routes.tables.test_segments import publish
from tests.supervisor.api.world import NOON, TASKS, Json, World

LINES = b"compaction begins\ncompaction ends\n"


def _compacted(world: World) -> tuple[str, int]:
    _, segment = publish(world)
    old, new = compact(world, segment)
    assert new.compaction_id is not None
    return new.compaction_id, old.file.rows


def _payload(world: World, compaction_id: str) -> Json:
    report = world.get_object(f"{TASKS}/task/{compaction_id}/reports")["ingestionStatsAndErrors"]
    return cast("Json", cast("Json", report)["payload"])


def test_a_report_comes_from_the_row_and_says_what_the_worker_has_sent(world: World) -> None:
    compaction_id, rows = _compacted(world)
    without = _payload(world, compaction_id)
    stored, kind = MemoryReports(), RecordType.TASK_REPORT
    stored.put_many(
        [
            ReportRecord(
                type=kind,
                record_id=record_id_of(compaction_id, 0, kind, 0),
                subject=compaction_id,
                origin=RecordOrigin.COMPACTION,
                at=NOON,
                seq=0,
                payload={"files": 3},
            )
        ]
    )
    world.store_reports(stored)

    totals = cast("Json", cast("Json", without["rowStats"])["buildSegments"])
    assert (totals["processed"], without["errorMsg"]) == (rows, None)
    assert (without["ingestionState"], without["compaction"]) == ("COMPLETED", None)
    assert _payload(world, compaction_id) == {**without, "compaction": {"files": 3}}


def test_a_log_comes_from_the_store_once_it_is_whole(world: World) -> None:
    compaction_id, _ = _compacted(world)
    path = f"{TASKS}/task/{compaction_id}/log"
    before = world.get_object(path, 503)
    logs = MemoryLogStore()
    logs.put_many(
        [
            StoredChunk(
                record_id=record_id_of(compaction_id, 0, RecordType.LOG_CHUNK, 0),
                subject=compaction_id,
                attempt=0,
                offset=0,
                content=LINES,
                ends=True,
                at=datetime(2026, 3, 1, tzinfo=UTC),
                supervisor=None,
                data_source="clicks",
                worker="w1",
                grave=(),
            )
        ]
    )
    world.store_logs(logs)

    after = world.client.get(path)

    assert before["type"] == "/problems/worker-unavailable"
    assert (after.status_code, after.content) == (200, LINES)
    assert "X-Tidegate-Log-Missing" not in after.headers


def test_what_is_neither_a_task_nor_a_compaction_is_not_there(world: World) -> None:
    for path in ("log", "reports"):
        assert world.client.get(f"{TASKS}/task/no-such/{path}").status_code == 404
