"""`tidegate task list` and `tidegate segment list`."""

from pathlib import Path

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.tables import Publisher, rows_of

TASKS = "/druid/indexer/v1/tasks"


def test_tasks_are_asked_for_by_state_and_table(tidegate: Tidegate, server: Overlord) -> None:
    """Source: the list of tasks of Druid 33."""
    row = {
        "id": "index_kafka_clicks_0123456789abcde_abcdefgh",
        "createdTime": "2026-11-21T03:15:33.634Z",
        "statusCode": "FAILED",
        "duration": 61_500,
        "location": {"host": "127.0.0.1", "port": 8091, "tlsPort": -1},
        "dataSource": "clicks",
        "errorMsg": "READ_FAILED: gone",
    }
    server.on("GET", TASKS, Reply([row, row | {"duration": -1, "location": None}]))

    ended = tidegate("task", "list", "--state", "complete", "--data-source", "clicks", "-n", "7")

    assert server.requests[0].query == {
        "state": ["complete"],
        "datasource": ["clicks"],
        "max": ["7"],
    }
    first = ended.out.splitlines()[1]
    for shown in (
        str(row["id"]),
        "clicks",
        "FAILED",
        "61.5s",
        "127.0.0.1:8091",
        "READ_FAILED: gone",
    ):
        assert shown in first
    assert tidegate("task", "list", "-o", "json").json()


def test_segments_of_all_tables_are_listed(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    publisher = Publisher(tmp_path)
    publisher.publish({0: 0}, {0: 6}, rows_of(0, 0, 6))
    server.on("GET", "/api/v1/datasources", Reply({"dataSources": ["clicks"]}))
    server.on("GET", "/api/v1/datasources/clicks/files", Reply(publisher.listed()))

    ended = tidegate("segment", "list")

    assert "clicks/data/task-g0/0.parquet" in ended.out
    assert ended.err == "1 files, 6 rows\n"
    rows = tidegate("segment", "list", "clicks", "-o", "json").json()
    assert isinstance(rows, list)
    assert [(row["dataSource"], row["rows"]) for row in rows] == [("clicks", 6)]
