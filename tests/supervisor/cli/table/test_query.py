"""`tidegate query`: SQL over the listed files, and over nothing else."""

from pathlib import Path
from typing import cast

import pyarrow.parquet as pq
import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.tables import Publisher, rows_of

FILES = "/api/v1/datasources/clicks/files"


@pytest.fixture
def publisher(server: Overlord, tmp_path: Path) -> Publisher:
    """A table of 10 published rows, and a server that lists it."""
    clicks = Publisher(tmp_path / "ware house's [1]*?")
    clicks.publish({0: 0}, {0: 6}, rows_of(0, 0, 6))
    clicks.publish({0: 6}, {0: 10}, rows_of(0, 6, 10))
    server.on("GET", "/api/v1/datasources", Reply({"dataSources": ["clicks"]}))
    server.on("GET", FILES, Reply(clicks.listed()))
    return clicks


def test_a_table_is_its_listed_files(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    """Goal: a file that lies in the folder and is not listed is no part of the table."""
    unlisted = Publisher(publisher.warehouse, publications=[{}] * 7)
    unlisted.publish({0: 90}, {0: 99}, rows_of(0, 90, 99))

    ended = tidegate("query", 'select count(*) as n, max("__offset") as last from clicks')

    assert (ended.code, [line.split() for line in ended.out.splitlines()]) == (
        0,
        [["n", "last"], ["10", "9"]],
    )
    assert [request.path for request in server.requests] == [FILES]


def test_json_keeps_types_and_times(tidegate: Tidegate, publisher: Publisher) -> None:
    sql = (
        "select __time, user, __offset as o, 1.5::decimal(9,2) as d, null as nothing, "
        "[1, 2] as l, {'a': true} as s, 9007199254740993 as big, 'x'::blob as b, "
        "'nan'::double as nan, count(*) over () as n, 1 as n from clicks order by o limit 1"
    )

    assert tidegate("query", sql, "-o", "json").json() == [
        {
            "__time": "2026-11-21T00:00:00+00:00",
            "user": "user 0",
            "o": 0,
            "d": "1.50",
            "nothing": None,
            "l": [1, 2],
            "s": {"a": True},
            "big": "9007199254740993",
            "b": "eA==",
            "nan": None,
            "n": 10,
            "n_2": 1,
        }
    ]
    assert publisher.files


def test_fresh_rows_are_asked_for(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    listed = publisher.listed()
    publisher.files[-1] |= {"published": False, "sha256": None, "generationId": None}
    server.on("GET", FILES, Reply(listed | {"missing": ["g9: worker w1 did not answer"]}))

    ended = tidegate("query", "--fresh", "select count(*) as n from clicks", "-o", "json")

    assert ended.json() == [{"n": 10}]
    assert server.requests[0].query == {"include": ["journaled"]}
    assert "worker w1 did not answer" in ended.err


def test_what_rows_hold_only_until_they_are_rolled_up_is_no_column(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.add_columns(1, {"__of_users": "u", "__each_tags": "t", "__at": 5, "__count": 2})
    publisher.files[1]["published"] = False
    server.on("GET", FILES, Reply(publisher.listed()))

    header, *_ = tidegate("query", "--fresh", "select * from clicks").out.splitlines()

    assert header.split() == ["__time", "user", "__partition", "__offset", "__count"]


def test_a_users_field_is_shown_whatever_its_name(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    """Goal: what a rollup would call its own is nobody's where a record brought it."""
    fields: dict[str, object] = {"__of_users": "u", "__each_tags": "t", "__at": "5"}
    for number in (0, 1):
        publisher.add_columns(number, fields)
        publisher.files[number]["columnSet"] = 0
    publisher.files[1]["published"] = False
    held = [{"name": name, "type": "string"} for name in ("user", *fields)]
    server.on("GET", FILES, Reply(publisher.listed() | {"columns": held, "columnSets": [held]}))

    sql = "select __of_users, __each_tags, __at, count(*) as n from clicks group by all"

    assert tidegate("query", "--fresh", sql, "-o", "json").json() == [fields | {"n": 10}]


def test_a_column_has_one_type_whatever_its_files_have(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    """Goal: values are those that they would be if the table had been written in one go."""
    types = [
        {"n": "long", "f": "long", "s": "string", "d": "double"},
        {"n": "double", "f": "double", "s": "long", "d": "json", "gone": "long"},
    ]
    values: list[dict[str, list[object]]] = [
        {
            "n": [1] * 6,
            "f": [2**60] * 6,
            "s": ['a "b"', "1", None, "", "", ""],
            "d": [7.0, 0.5] * 3,
        },
        {"n": [2.5] * 4, "f": [1e300] * 4, "s": [5] * 4, "d": ['"x"', "[1]", None, "7"]},
    ]
    for file, held in zip(publisher.files, values, strict=True):
        table = pq.read_table(publisher.warehouse / str(file["path"]), partitioning=None)
        for name, column in held.items():
            table = table.append_column(name, [column])
        pq.write_table(table, publisher.warehouse / str(file["path"]))
    sets = [[{"name": n, "type": t} for n, t in some.items()] for some in types]
    whole = {"n": "double", "f": "double", "s": "json", "d": "json", "gone": "json"}
    for number, file in enumerate(publisher.files):
        file["columnSet"] = number
    columns = [{"name": name, "type": kind} for name, kind in whole.items()]
    server.on("GET", FILES, Reply(publisher.listed() | {"columns": columns, "columnSets": sets}))

    sql = "select n, f, s, d, gone from clicks order by __offset"
    rows = cast("list[dict[str, object]]", tidegate("query", sql, "-o", "json").json())

    assert [row["n"] for row in rows] == [1.0] * 6 + [2.5] * 4
    assert [row["f"] for row in rows] == [float(2**60)] * 6 + [1e300] * 4
    assert [row["s"] for row in rows] == ['"a \\"b\\""', '"1"', None, *['""'] * 3, *["5"] * 4]
    assert [row["d"] for row in rows] == ["7", "0.5"] * 3 + ['"x"', "[1]", None, "7"]
    assert {row["gone"] for row in rows} == {None}


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('{secret}')",
        "select * from '{secret}'",
        "select content from read_text('{secret}')",
        "copy clicks to '{folder}/out.csv'",
        "copy clicks to '{table}'",
        "attach '{folder}/x.db'",
        "set enable_external_access = true",
        "set allowed_paths = ['{secret}']",
        "install httpfs",
        "load '{secret}'",
    ],
)
def test_nothing_but_the_tables_can_be_read_and_nothing_written(
    tidegate: Tidegate, publisher: Publisher, tmp_path: Path, sql: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nhush\n")
    table = publisher.warehouse / str(publisher.files[0]["path"])
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    content = table.read_bytes()
    quoted = str(table).replace("'", "''")

    ended = tidegate("query", sql.format(secret=secret, folder=tmp_path, table=quoted))

    assert (ended.code, ended.out) == (1, "")
    assert "hush" not in ended.err
    assert "not foreseen" not in ended.err
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
    assert table.read_bytes() == content


def test_an_error_of_sql_is_one_line(tidegate: Tidegate, publisher: Publisher) -> None:
    ended = tidegate("query", "selec 1")

    assert (ended.code, ended.err) == (1, 'error: Parser Error: syntax error at or near "selec"\n')
    assert publisher.files


def test_a_table_that_is_not_there_is_told(tidegate: Tidegate, publisher: Publisher) -> None:
    ended = tidegate("query", "select * from clickz")

    assert ended.code == 1
    assert "Table with name clickz does not exist" in ended.err
    assert "hint: did you mean clicks?" in ended.err
    assert publisher.files
    ended = tidegate("query", "select * from pg_sequence_of_mine")
    assert (ended.code, "hint: tables: clicks" in ended.err) == (1, True)
    assert "pg_sequences" not in ended.err


def test_a_table_without_published_files_says_when_to_come_back(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    server.on("GET", FILES, Reply(publisher.listed() | {"files": []}))

    ended = tidegate("query", "select count(*) from clicks")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("error: clicks has no published rows yet\nhint: ")
    assert "--fresh" in ended.err
    ended = tidegate("query", "--fresh", "select count(*) from clicks")
    assert ended.err.startswith("error: clicks has no rows yet\nhint: it publishes")
    assert "--fresh" not in ended.err


def test_a_table_whose_records_were_all_rejected_says_how_many(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    """Goal: nobody waits for rows that never come."""
    errors = publisher.listed() | {"dataSource": "clicks__errors", "files": publisher.files[:1]}
    server.on("GET", FILES, Reply(publisher.listed() | {"files": []}))
    server.on("GET", "/api/v1/datasources/clicks__errors/files", Reply(errors))

    ended = tidegate("query", "select count(*) from clicks")

    assert ended.code == 1
    assert ended.err.startswith("error: clicks has no published rows: 6 records were rejected\n")
    assert "clicks__errors" in ended.err
    server.on("GET", "/api/v1/datasources/clicks__errors/files", Reply(errors | {"files": []}))
    ended = tidegate("query", "select count(*) from clicks__errors")
    assert ended.err.startswith("error: clicks__errors has no rows\nhint: no published range of")


def test_tables_that_the_query_does_not_name_are_not_asked_for(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", "/api/v1/datasources", Reply({"dataSources": []}))

    assert tidegate("query", "select 6 * 7 as answer", "-o", "json").json() == [{"answer": 42}]
    assert [request.path for request in server.requests] == ["/api/v1/datasources"]


def test_all_tables_are_shown(tidegate: Tidegate, publisher: Publisher) -> None:
    assert tidegate("query", "show tables", "-o", "json").json() == [{"name": "clicks"}]
    assert publisher.files


def test_a_long_answer_is_cut_for_people_only(tidegate: Tidegate, publisher: Publisher) -> None:
    ended = tidegate("query", "select range from range(1500)")

    assert len(ended.out.splitlines()) == 1001
    assert "1000 rows" in ended.err
    assert tidegate("query", "select sum(range)::int as s from range(1500)", "-o", "json").json()
    assert publisher.files


def test_a_warehouse_that_is_not_mounted_here_is_told(
    tidegate: Tidegate, server: Overlord, publisher: Publisher, tmp_path: Path
) -> None:
    server.on("GET", FILES, Reply(publisher.listed() | {"warehouse": "/not/here"}))

    ended = tidegate("query", "select count(*) from clicks")
    assert (ended.code, "/not/here" in ended.err) == (1, True)

    elsewhere = str(publisher.warehouse)
    ended = tidegate(
        "query", "select count(*) as n from clicks", "--warehouse", elsewhere, "-o", "json"
    )
    assert ended.json() == [{"n": 10}]
    assert tmp_path.is_dir()


def test_a_file_outside_of_the_warehouse_is_refused(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    listed = publisher.listed()
    publisher.files[0]["path"] = "../outside.parquet"
    server.on("GET", FILES, Reply(listed))

    ended = tidegate("query", "select * from clicks")

    assert (ended.code, "outside of the warehouse" in ended.err) == (1, True)
