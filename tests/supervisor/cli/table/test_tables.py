"""`tidegate table list` and `tidegate table timeline`."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/datasources"
AT = "2026-01-05T12:00:00Z"


def test_tables_are_listed_with_their_size_and_who_feeds_them(
    tidegate: Tidegate, server: Overlord
) -> None:
    row = {
        "name": "orders",
        "rows": 12_400_000,
        "bytes": 391_000_000,
        "files": 214,
        "smallFiles": 7,
        "unusedFiles": 3,
        "timeMin": AT,
        "timeMax": AT,
        "lastPublishedAt": None,
        "supervisors": ["eu", "us"],
        "exports": ["delta"],
    }
    server.on("GET", PATH, Reply({"dataSources": ["orders"], "stats": [row]}))

    lines = tidegate("table", "list", "-o", "wide").out.splitlines()

    assert lines[0].split()[:6] == ["TABLE", "ROWS", "BYTES", "FILES", "SMALL", "UNUSED"]
    words = lines[1].split()
    assert words[:6] == ["orders", "12400000", "391000000", "214", "7", "3"]
    assert lines[1].endswith("delta")
    assert "eu, us" in lines[1]
    [request] = server.requests
    assert request.query == {"stats": ["true"]}


def test_a_timeline_says_what_is_small_and_that_there_is_more(
    tidegate: Tidegate, server: Overlord
) -> None:
    bucket = {"start": AT, "rows": 10, "bytes": 1_000, "files": 2, "small": 1, "unused": 0}
    body = {"dataSource": "orders", "bucket": "PT3600S", "buckets": [bucket], "more": True}
    server.on("GET", f"{PATH}/orders/timeline", Reply(body))

    ended = tidegate("table", "timeline", "orders", "--bucket", "PT1H", "--from", AT, "-n", "7")

    lines = ended.out.splitlines()
    assert lines[0].split() == ["START", "ROWS", "BYTES", "FILES", "SMALL", "UNUSED"]
    assert lines[1].split()[-4:] == ["10", "1000", "2", "1"]
    assert "older buckets" in ended.err
    [request] = server.requests
    assert request.query == {"bucket": ["PT1H"], "limit": ["7"], "from": [AT]}


def test_no_table_is_a_notice(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, Reply({"dataSources": [], "stats": []}))
    assert "No table is known." in tidegate("table", "list").err
