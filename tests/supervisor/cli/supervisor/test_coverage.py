"""`tidegate supervisor coverage`."""

import json

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/supervisors/clicks/coverage"


def counts(**numbers: int) -> dict[str, int]:
    names = "committed published publishing reading skipped lost repeated unexplained"
    return dict.fromkeys(names.split(), 0) | numbers


def answer(*runs: tuple[int, int, str], **numbers: int) -> dict[str, object]:
    return {
        "supervisorId": "clicks",
        "dataSource": "clicks",
        "at": "2026-01-05T12:00:00Z",
        "rows": 9,
        "rejected": 0,
        "ranges": 1,
        "complete": not numbers.get("unexplained"),
        "counts": counts(**numbers),
        "partitions": [
            {
                "topic": "orders",
                "partition": 3,
                "firstOffset": 2**53 + 1,
                "nextOffset": 2**62,
                "recreatedAt": None,
                "counts": counts(**numbers),
                "runs": [
                    {
                        "from": a,
                        "to": b,
                        "kind": kind,
                        "rows": None,
                        "rejected": 0,
                        "generations": 1,
                    }
                    for a, b, kind in runs
                ],
                "more": False,
            }
        ],
    }


def test_it_prints_the_sum_of_each_partition_and_of_all(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", PATH, Reply(answer(committed=12, published=9, lost=3, reading=4)))

    ended = tidegate("supervisor", "coverage", "clicks", "--topic", "orders", "--partition", "3")

    assert ended.code == 0
    heading, row = ended.out.splitlines()
    assert heading.split()[:4] == ["TOPIC", "PARTITION", "FIRST", "NEXT"]
    assert row.split() == ["orders", "3", str(2**53 + 1), str(2**62), "9", "3", "0", "0", "0"]
    assert (
        "12 offsets committed = 9 published + 0 repeated + 0 skipped + 3 lost + 0 unexplained: "
        "every committed offset is explained"
    ) in " ".join(ended.err.split())
    [request] = server.requests
    assert request.query == {"topic": ["orders"], "partition": ["3"]}


def test_what_is_unexplained_is_named_with_what_to_do(tidegate: Tidegate, server: Overlord) -> None:
    runs = [(n * 10, n * 10 + 2, "unexplained") for n in range(7)]
    server.on(
        "GET", PATH, Reply(answer((70, 80, "published"), *runs, committed=24, unexplained=14))
    )

    ended = tidegate("supervisor", "coverage", "clicks")

    lines = " ".join(ended.err.split())
    assert "orders:3: unexplained from 0 to 2 orders:3: unexplained from 10 to 12" in lines
    assert "orders:3: and 2 more runs" in lines
    assert "14 offsets are unexplained: `tidegate verify clicks`" in lines


def test_a_window_lists_its_runs(tidegate: Tidegate, server: Overlord) -> None:
    runs = [(5, 9, "published"), (9, 12, "lost")]
    server.on("GET", PATH, Reply(answer(*runs, committed=7, published=4, lost=3)))

    ended = tidegate("supervisor", "coverage", "clicks", "--from", "5", "--to", "12")

    heading, first, second = ended.out.splitlines()
    assert heading.split()[2:] == ["FROM", "TO", "KIND", "ROWS", "REJECTED", "RANGES"]
    assert first.split() == ["orders", "3", "5", "9", "published", "-", "0", "1"]
    assert second.split() == ["orders", "3", "9", "12", "lost", "-", "0", "1"]
    [request] = server.requests
    assert request.query == {"from": ["5"], "to": ["12"]}


def test_json_is_the_answer_as_it_came(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, Reply(answer(committed=1, published=1)))

    ended = tidegate("supervisor", "coverage", "clicks", "-o", "json")

    assert json.loads(ended.out) == answer(committed=1, published=1)
