"""`tidegate supervisor partitions`."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/supervisors/clicks/partitions"
TASK = {"id": "task-a", "generationId": "g1", "replica": 0, "workerId": "w1", "position": 150}
ROW = {
    "topic": "clicks",
    "partition": 7,
    "group": 3,
    "earliest": 81_002,
    "committed": 90_310,
    "stable": 99_100,
    "latest": 99_120,
    "lagRecords": 9_204,
    "lagMillis": 840_000,
    "headroomRecords": 9_308,
    "headroomMillis": 7_800_000,
    "atRisk": True,
    "tasks": [TASK | {"position": 89_896, "lag": 9_204}, TASK | {"id": "task-b", "position": None}],
    "trouble": None,
    "unknown": {},
}


def page(*rows: dict[str, object], following: str | None = None, **members: object) -> Reply:
    body = {
        "supervisorId": "clicks",
        "readAt": "2026-01-05T12:00:00Z",
        "trouble": None,
        "count": 2,
        "partitions": rows,
        "next": following,
    }
    return Reply(body | members)


def test_each_partition_is_a_line_with_what_is_at_risk(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", PATH, page(ROW))

    ended = tidegate("supervisor", "partitions", "clicks", "--sort", "headroom")

    assert ended.code == 0
    assert ended.out.splitlines()[1].split() == [
        *("clicks:7", "3", "81002", "90310", "89896", "99100", "99120", "9204", "14m0s", "2h10m"),
        *("at", "risk"),
    ]
    assert server.requests[0].query["sort"] == ["headroomMillis"]
    assert "1 of 2 partitions, read " in ended.err


def test_an_empty_cell_has_its_reason_below_the_table(tidegate: Tidegate, server: Overlord) -> None:
    lacking = {"headroomMillis": None, "unknown": {"headroomMillis": "it has not moved"}}
    trouble = {"code": "OFFSETS_UNREADABLE", "text": "20 records are lost"}
    failed = {"code": "unreachable", "text": "no answer"}
    rows = ROW | lacking, ROW | lacking | {"partition": 8, "trouble": trouble}
    server.on("GET", PATH, page(*rows, trouble=failed, readAt=None))

    ended = tidegate("supervisor", "partitions", "clicks")

    assert ended.out.splitlines()[2].endswith("OFFSETS_UNREADABLE")
    assert ended.err.splitlines() == [
        "clicks:8: 20 records are lost",
        "2 of 2 partitions, no look at Kafka yet",
        "the last look at Kafka failed: no answer",
        "headroomMillis is not known of 2: it has not moved",
    ]


def test_all_pages_are_one_answer_as_json(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, page(ROW, following="more"), page(ROW | {"partition": 8}))

    ended = tidegate("supervisor", "partitions", "clicks", "-o", "json")

    assert [row["partition"] for row in ended.json()["partitions"]] == [7, 8]  # type: ignore[index]
    assert server.requests[1].query["cursor"] == ["more"]


def test_a_part_of_them_is_counted_beside_all(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, page(ROW, count=40, fitting=3))

    ended = tidegate("supervisor", "partitions", "clicks", "--only", "at-risk", "-n", "1")

    assert server.requests[0].query["only"] == ["at-risk"]
    assert ended.err.startswith("1 of 3 partitions that are at risk, 40 in all, read ")
