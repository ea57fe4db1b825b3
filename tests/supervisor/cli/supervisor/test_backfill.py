"""`tidegate supervisor reset --to-latest --backfill`: says who will read what, asks, does it."""

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.supervisor.test_reset import moved, posted, status

BASE = "/druid/indexer/v1/supervisor/clicks"
PATH = f"{BASE}/resetToLatestAndBackfill"
OWN = "clicks_backfill_abcdefgh"
FLAGS = ("supervisor", "reset", "clicks", "--to-latest", "--backfill")


def answer(own: str | None = OWN, **numbers: int | None) -> Reply:
    ranges = [{"topic": "clicks", "partition": 0, "from": 100, "to": 300}]
    body: dict[str, object] = {
        "id": "clicks",
        "backfillSupervisorId": own,
        "backfill": ranges,
        "backfillTaskCount": 2,
        "dryRun": own is None,
        "partitions": [moved(to=300, skipped=200, **numbers)],
        "discarded": [{"generationId": "clicks:1", "group": 0, "partitions": ["clicks:0"]}],
        "operationId": "op_7",
    }
    return Reply(body)


def test_it_says_who_reads_what(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", PATH, answer())

    ended = tidegate(*FLAGS, "--backfill-task-count", "2", "--yes")

    assert (ended.code, posted(server)) == (0, [("resetToLatestAndBackfill", False)])
    assert server.requests[-1].query["backfillTaskCount"] == ["2"]
    assert ended.out == (
        f"clicks:0: {OWN} reads 100 to 300, 200 offsets; clicks goes on at 300\n"
        f"clicks is reset, {OWN} created\n"
    )


def test_it_asks_with_the_ranges_before_it_does_anything(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("POST", PATH, answer(None, lost=30))

    ended = tidegate(*FLAGS)

    assert (ended.code, posted(server)) == (2, [("resetToLatestAndBackfill", True)])
    assert "clicks:0: a supervisor of its own reads 100 to 300, 200 offsets" in ended.err
    assert "30 records are lost" in ended.err
    assert "1 range that tasks read now will be given up" in ended.err
    assert "in 2 groups" in ended.err
    assert "Say --yes" in ended.err


def test_a_dry_run_asks_nobody(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", PATH, answer(None))

    ended = tidegate(*FLAGS, "--dry-run")

    assert (ended.code, posted(server)) == (0, [("resetToLatestAndBackfill", True)])
    assert ended.out.endswith("nothing is changed: a dry run\n")


def test_the_forms_for_programs(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", PATH, answer())

    assert tidegate(*FLAGS, "--yes", "-o", "json").json() == answer().body
    assert tidegate(*FLAGS, "--yes", "-o", "name").out.splitlines()[-1] == OWN


def test_wait_ends_when_the_tasks_of_the_first_read_again(
    tidegate: Tidegate, server: Overlord
) -> None:
    task = {"id": "index_kafka_clicks_0123456789abcde_abcdefgh", "type": "ACTIVE"}
    server.on("POST", PATH, answer())
    server.on("GET", f"{BASE}/status", Reply(status()), Reply(status(activeTasks=[task])))

    assert tidegate(*FLAGS, "--yes", "--wait", "30").code == 0
    assert [a.method for a in server.requests] == ["POST", "GET", "GET"]


@pytest.mark.parametrize(
    "options",
    [
        ("--to-latest",),
        ("--backfill",),
        ("--backfill-task-count", "2"),
        ("--to-latest", "--backfill", "--offset", "0=1"),
        ("--to-latest", "--backfill", "--backfill-task-count", "0"),
    ],
)
def test_options_that_do_not_go_together_ask_nothing(
    tidegate: Tidegate, server: Overlord, options: tuple[str, ...]
) -> None:
    ended = tidegate("supervisor", "reset", "clicks", *options)

    assert (ended.code, server.requests) == (2, [])
