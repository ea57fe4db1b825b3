"""`tidegate query` where names differ in case only, which DuckDB takes for one name."""

from pathlib import Path
from typing import cast

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.tables import Publisher, rows_of

FILES = "/api/v1/datasources/clicks/files"


@pytest.fixture
def publisher(server: Overlord, tmp_path: Path) -> Publisher:
    """A table of two files, six rows and four."""
    clicks = Publisher(tmp_path / "warehouse")
    clicks.publish({0: 0}, {0: 6}, rows_of(0, 0, 6))
    clicks.publish({0: 6}, {0: 10}, rows_of(0, 6, 10))
    server.on("GET", FILES, Reply(clicks.listed()))
    return clicks


@pytest.mark.parametrize("recorded", [True, False])
def test_names_that_differ_in_case_only_never_show_another_fields_value(
    tidegate: Tidegate, server: Overlord, publisher: Publisher, *, recorded: bool
) -> None:
    """Goal: whichever comes first in a file, and whether or not its columns are on record."""
    files: list[dict[str, list[object]]] = [
        {"userId": ["1", None, "a", "b", "c", "d"]},
        {"USERID": ["x", None, "y", "z"], "userid": ["2", "3", "4", None], "userId": ["e"] * 4},
    ]
    for number, fields in enumerate(files):
        publisher.add_columns(number, fields)
        publisher.files[number]["columnSet"] = number if recorded else None
    sets = [[{"name": name, "type": "string"} for name in each] for each in files]
    about = {"columns": [*sets[1]], "columnSets": sets} if recorded else {}
    server.on("GET", FILES, Reply(publisher.listed() | about))

    sql = 'select "userId" as a, "USERID_1" as b, "userid_1" as c from clicks order by __offset'
    ended = tidegate("query", sql, "-o", "json")
    assert ended.code == 1, "userid_1 and USERID_1 are one name, too"
    sql = 'select "userId" as a, "USERID_1" as b, "userid_2" as c from clicks order by __offset'
    ended = tidegate("query", sql, "-o", "json")

    rows = cast("list[dict[str, object]]", ended.json())
    first, second = files
    assert [row["a"] for row in rows] == first["userId"] + second["userId"]
    assert [row["b"] for row in rows] == [None] * 6 + second["USERID"]
    assert [row["c"] for row in rows] == [None] * 6 + second["userid"]
    assert 'warning: column USERID of clicks is "USERID_1" here' in ended.err
    for name in ("USERID", '"USERID"', "userid", '"userid"', "clicks.userID"):
        ended = tidegate("query", f"select {name} from clicks")  # noqa: S608 -- a test's own
        assert (ended.code, ended.out) == (1, "")
        assert "names ignore case" in ended.err
        assert 'USERID is "USERID_1"' in ended.err
    sql = "select 'userid' as t, count(*) as n from clicks where \"userid_2\" = '2'"
    assert tidegate("query", sql, "-o", "json").json() == [{"t": "userid", "n": 1}]


def test_a_field_that_differs_in_case_from_a_column_of_ours_has_an_alias(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    for number in (0, 1):
        publisher.add_columns(number, {"__Time": "mine"})
        publisher.files[number]["columnSet"] = 0
    held = [{"name": "user", "type": "string"}, {"name": "__Time", "type": "string"}]
    server.on("GET", FILES, Reply(publisher.listed() | {"columns": held, "columnSets": [held]}))

    sql = 'select min("__time") as t, max("__Time_1") as mine from clicks'

    assert tidegate("query", sql, "-o", "json").json() == [
        {"t": "2026-11-21T00:00:00+00:00", "mine": "mine"}
    ]


def test_a_column_whose_type_has_grown_has_its_own_values_beside_one_of_another_case(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.add_columns(0, {"N": 7, "n": "seven"})
    publisher.add_columns(1, {"n": "eight", "N": 0.5})
    publisher.files[0]["columnSet"], publisher.files[1]["columnSet"] = 0, 1
    types = [{"N": "long", "n": "string"}, {"N": "double", "n": "string", "gone": "long"}]
    sets = [[{"name": n, "type": t} for n, t in some.items()] for some in types]
    about = {"columns": sets[1], "columnSets": sets}
    server.on("GET", FILES, Reply(publisher.listed() | about))

    sql = 'select distinct "N", "n_1", gone from clicks order by 1'

    assert tidegate("query", sql, "-o", "json").json() == [
        {"N": 0.5, "n_1": "eight", "gone": None},
        {"N": 7.0, "n_1": "seven", "gone": None},
    ]


@pytest.fixture
def alike(server: Overlord, publisher: Publisher, tmp_path: Path) -> Publisher:
    """Two tables whose names differ in case only: `Clicks` has one row, `clicks` has ten."""
    other = Publisher(tmp_path / "warehouse", publications=[{}] * 7)
    other.publish({0: 0}, {0: 1}, rows_of(0, 90, 91))
    listed = other.listed() | {"dataSource": "Clicks"}
    server.on("GET", "/api/v1/datasources", Reply({"dataSources": ["Clicks", "clicks"]}))
    server.on("GET", "/api/v1/datasources/Clicks/files", Reply(listed))
    return publisher


def test_tables_whose_names_differ_in_case_only_are_queried_one_at_a_time(
    tidegate: Tidegate, alike: Publisher
) -> None:
    """Goal: each name means its own table, or nothing."""
    assert alike.files
    for name, rows in (("Clicks", 1), ("clicks", 10)):
        ended = tidegate("query", f"select count(*) as n from {name}", "-o", "json")  # noqa: S608 -- a test's own
        assert ended.json() == [{"n": rows}]
    both = tidegate("query", "select count(*) from Clicks c, clicks d")
    several = tidegate("query", "select 1; select count(*) from clicks")
    for ended in (both, several):
        assert (ended.code, ended.out) == (1, "")
        assert 'clicks is "Clicks"' in ended.err


def test_what_names_no_table_works_beside_two_that_differ_in_case_only(
    tidegate: Tidegate, alike: Publisher
) -> None:
    assert alike.files
    ended = tidegate("query", "select 6 * 7 as answer", "-o", "json")
    assert ended.json() == [{"answer": 42}]
    assert "clicks is left out" in ended.err
    assert tidegate("query", "show tables", "-o", "json").json() == [{"name": "Clicks"}]
    ended = tidegate("query", "selec 1")
    assert (ended.code, ended.err) == (1, 'error: Parser Error: syntax error at or near "selec"\n')
