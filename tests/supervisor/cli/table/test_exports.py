"""`tidegate export list`, `tidegate snippet`, and that each snippet reads the published rows."""

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pytest

from supervisor.core.tables.snippets import Reader, snippet
from supervisor.core.values.export_formats import ExportFormat
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.chores.exports.exports import DELTA, ICEBERG, Harbour
from tests.supervisor.chores.exports.test_exporting import more, whole
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

TABLE = "/api/v1/datasources/clicks"


def export(**members: object) -> dict[str, object]:
    return {
        "dataSource": "clicks",
        "format": "delta",
        "state": "equal",
        "lagSeconds": 0.0,
        "sequence": 3,
        "version": 2,
        "location": "/warehouse/clicks",
        "exportedAt": "2026-11-21T00:00:00Z",
        "problem": "",
    } | members


def test_exports_are_listed_with_what_holds_them_up(tidegate: Tidegate, server: Overlord) -> None:
    stuck = export(format="iceberg", state="stuck", lagSeconds=75.4, problem="column a is two")
    server.on("GET", f"{TABLE}/exports", Reply({"exports": [export(), stuck]}))

    ended = tidegate("export", "list", "clicks")

    assert ended.code == 0
    header, first, second = ended.out.splitlines()
    assert header.split() == ["TABLE", "FORMAT", "STATE", "LAG", "VERSION", "EXPORTED", "LOCATION"]
    assert first.split()[:4] == ["clicks", "delta", "equal", "2"]
    assert second.split()[:4] == ["clicks", "iceberg", "stuck", "75s"]
    assert "clicks as iceberg: column a is two" in ended.err


def test_without_a_table_all_are_listed_and_none_is_told(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", "/api/v1/exports", Reply({"exports": []}))

    ended = tidegate("export", "list")

    assert (ended.code, server.requests[-1].path) == (0, "/api/v1/exports")
    assert "No table is exported" in ended.err
    assert tidegate("export", "list", "-o", "json").json() == {"exports": []}


def test_a_snippet_is_printed_as_it_is(tidegate: Tidegate, server: Overlord) -> None:
    code = snippet(Reader.POLARS, "clicks", server.url)
    reply = Reply({"dataSource": "clicks", "snippets": [{"reader": "polars", "code": code}]})
    server.on("GET", f"{TABLE}/snippets", reply)

    ended = tidegate("snippet", "clicks", "--reader", "polars")

    assert (ended.code, ended.out) == (0, code)
    assert server.requests[-1].query == {"reader": ["polars"]}


def test_an_unknown_reader_is_a_mistake_of_use(tidegate: Tidegate) -> None:
    assert tidegate("snippet", "clicks", "--reader", "excel").code == 2


_PROGRAMS = {
    Reader.DUCKDB: 'names = rows.columns\nids = rows.project("__partition, __offset").fetchall()',
    Reader.POLARS: 'ids = rows.select("__partition", "__offset").rows()',
    Reader.PANDAS: "ids = list(zip(rows['__partition'].tolist(), rows['__offset'].tolist()))",
    Reader.DELTALAKE: (
        "ids = list(zip(rows['__partition'].to_pylist(), rows['__offset'].to_pylist()))"
    ),
}
_PROGRAMS[Reader.PYICEBERG] = _PROGRAMS[Reader.DELTALAKE]


@pytest.mark.parametrize("reader", list(_PROGRAMS))
def test_a_snippet_reads_exactly_the_published_rows(
    server: Overlord, tmp_path: Path, reader: Reader
) -> None:
    """Goal: also where files have different columns, and others lie beside them."""
    harbour = Harbour(SqliteInMemory(), tmp_path / "warehouse", DELTA, ICEBERG)
    gone = harbour.publish_range()
    harbour.publish_range(extra=more)
    harbour.publish_range()
    harbour.mark(gone, used=False)
    for each in (DELTA, ICEBERG):
        harbour.export(each)
    _serve(server, harbour, DELTA, ICEBERG)

    published: Counter[tuple[int, int]] = sum(harbour.published().values(), Counter())
    assert _ran(server, reader, _PROGRAMS[reader]) == f"{sorted(published.elements())}"


_SCORES = {
    Reader.DUCKDB: 'ids = {s for (s,) in rows.project("score").fetchall()}',
    Reader.POLARS: 'ids = set(rows["score"].to_list())',
    Reader.PANDAS: "ids = set(rows['score'].tolist())",
}


@pytest.mark.parametrize("reader", list(_SCORES))
def test_a_column_that_has_grown_is_read_in_its_wider_type(
    server: Overlord, tmp_path: Path, reader: Reader
) -> None:
    harbour = Harbour(SqliteInMemory(), tmp_path / "warehouse")
    harbour.publish_range(extra=whole)
    harbour.publish_range(extra=more)
    _serve(server, harbour, columns={"score": "double"})

    assert _ran(server, reader, _SCORES[reader]) == "[1.5, 7.0]"


_GROWN = {
    Reader.DUCKDB: 'ids = rows.project("x").fetchall()',
    Reader.POLARS: 'ids = rows.select("x").rows()',
    Reader.PANDAS: "ids = [(x if x is None else list(x),) for x in rows['x'].tolist()]",
}
_GROWN_TEXTS = _GROWN | {Reader.PANDAS: "ids = [(x,) for x in rows['x'].tolist()]"}
_LISTS = pa.list_(pa.int64()), pa.list_(pa.string())


@pytest.mark.parametrize("reader", list(_GROWN))
def test_what_has_become_texts_is_read_as_texts(
    server: Overlord, tmp_path: Path, reader: Reader
) -> None:
    """Goal: also arrays; a number that no double holds keeps its digits as a text."""
    big = 2**53 + 1
    for name, programs, columns in (
        ("array<string>", _GROWN, [pa.array([[big]], _LISTS[0]), pa.array([["a"]], _LISTS[1])]),
        ("json", _GROWN_TEXTS, [pa.array([big]), pa.array(['["a"]'])]),
    ):
        root = tmp_path / name
        harbour = Harbour(SqliteInMemory(), root)
        for column in columns:
            harbour.publish_range(1, extra=partial(_twice, column))
        _serve(server, harbour, columns={"x": name})

        printed = _ran(server, reader, programs[reader])

        whole = [([str(big)],), (["a"],)] if programs is _GROWN else [(str(big),), ('["a"]',)]
        assert printed == f"{sorted(whole * 2)}"


def test_a_snippet_keeps_whole_numbers_that_stand_beside_a_null(
    server: Overlord, tmp_path: Path
) -> None:
    """Goal: pandas on its own makes floats of them, and other numbers of some."""
    harbour = Harbour(SqliteInMemory(), tmp_path / "warehouse")
    harbour.publish_range(1)
    harbour.publish_range(1, extra=lambda rows: {"x": pa.array([2**53 + 1, None][:rows])})
    _serve(server, harbour, columns={"x": "long"})

    program = "ids = rows['x'].dropna().tolist()"
    assert _ran(server, Reader.PANDAS, program) == f"{[2**53 + 1]}"


def test_the_snippet_for_duckdb_refuses_names_that_it_takes_for_one(
    server: Overlord, tmp_path: Path
) -> None:
    """Goal: no value under another field's name; both are named."""
    harbour = Harbour(SqliteInMemory(), tmp_path / "warehouse")
    harbour.publish_range()
    for columns, named in (
        ({"userId": "string", "USERID": "string"}, ("userId", "USERID")),
        ({"__Time": "string"}, ("__Time", "__time")),
    ):
        _serve(server, harbour, columns=columns)
        code = snippet(Reader.DUCKDB, "clicks", server.url)
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 1
        assert all(name in ran.stderr for name in named)


@pytest.mark.parametrize("reader", [Reader.DUCKDB, Reader.POLARS, Reader.PANDAS])
def test_a_warehouse_whose_name_is_a_pattern_is_read_alone(
    server: Overlord, tmp_path: Path, reader: Reader
) -> None:
    """Goal: its name stands for itself; rows of a folder that it would match do not come in."""
    harbour = Harbour(SqliteInMemory(), tmp_path / "ware[ab]*{c}?")
    harbour.publish_range()
    other = Harbour(SqliteInMemory(), tmp_path / "warea-{c}!")
    other.publish_range(records=5)
    _serve(server, harbour)

    published: Counter[tuple[int, int]] = sum(harbour.published().values(), Counter())
    ran = _ran(server, reader, _PROGRAMS[reader], str(harbour.root))
    assert ran == f"{sorted(published.elements())}"


def _ran(server: Overlord, reader: Reader, program: str, warehouse: str = "") -> str:
    """Run a snippet, and return `ids` as `program` finds them, sorted."""
    given = snippet(reader, "clicks", server.url, warehouse=warehouse)
    code = f"{given}\n{program}\nprint('IDS', sorted(ids))\n"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()[-1].removeprefix("IDS ")


def _twice(column: pa.Array, _: int) -> dict[str, pa.Array]:
    return {"x": pa.concat_arrays([column, column])}


def _serve(
    server: Overlord,
    harbour: Harbour,
    *exported: ExportFormat,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> None:
    files = [{"uri": str(harbour.root / path)} for path in harbour.published()]
    held = [{"name": name, "type": kind} for name, kind in columns.items()]
    server.on("GET", f"{TABLE}/files", Reply({"files": files, "columns": held}))
    rows = [harbour.row(each) for each in exported]
    exports = [
        export(format=row.format, location=str(harbour.root / row.standing.location))
        for row in rows
    ]
    server.on("GET", f"{TABLE}/exports", Reply({"exports": exports}))
