"""A table of every type of column, and of odd names, exported in both formats.

What a filter is to find is worked out from the rows in Python: it shares nothing with any reader.
"""

import operator
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.adapters.tables.delta import DeltaFormat
from supervisor.adapters.tables.iceberg import IcebergFormat
from supervisor.core.tables.exports import ExportChange, ExportedFile
from supervisor.core.tables.snippets import Reader, snippet
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.tables.exports import TableFormat
from supervisor.views.tables.files import TableFiles
from tasks.contract.ingest_spec import Column
from tests.supervisor.cli.overlord import Overlord, Reply, overlord
from tests.supervisor.cli.table.tables import table_files

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
TABLE = "clicks"
Row = Mapping[str, object]
Ids = set[int]
"""The offsets of the rows that a reader finds."""
LONGS, DOUBLES, TEXTS = (pa.list_(kind) for kind in (pa.int64(), pa.float64(), pa.string()))
ODD = ("odd name", "it's", 'a "b"', "a.b", "größe", "日本", "a,b=c", "{x}", "1", "select", "end ")
TYPES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "__time": pa.timestamp("us", "UTC"),
        "text": pa.string(),
        "big": pa.int64(),
        "flag": pa.int64(),
        "ratio": pa.float64(),
        "small": pa.float32(),
        "doc": pa.string(),
        "longs": LONGS,
        "doubles": DOUBLES,
        "texts": TEXTS,
        **dict.fromkeys(ODD, pa.string()),
        "__partition": pa.int32(),
        "__offset": pa.int64(),
    }
)
COLUMN_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "big": "long",
        "flag": "long",
        "ratio": "double",
        "small": "float",
        "doc": "json",
        "longs": "array<long>",
        "doubles": "array<double>",
        "texts": "array<string>",
    }
)
"""As the list of files has them; others are texts."""

_LONG_TEXT = "a text that is longer than the bounds that formats keep"
_VALUES: Mapping[str, Sequence[object]] = MappingProxyType(
    {
        "text": ("a", None, "", "5", f"{_LONG_TEXT} \U0010ffff", f"{_LONG_TEXT} b", "ä'\"\\%"),
        "big": (2**53 + 1, -(2**63), None, 2**63 - 1, 0, 2**53, 7),
        "flag": (1, 0, 1, None, 0, 1, 1),
        "ratio": (0.5, None, -0.0, 1e300, -1e-300, 0.1, 2.0**53),
        "small": (0.5, 1.5, None, -2.25, 0.0, 0.25, 8.0),
        "doc": ('{"a": [1]}', "7", None, '"x"', "[]", '{"a": [1, 2]}', "true"),
        "longs": ([1, None], None, [], [2**53 + 1], [1], None, [7]),
        "doubles": ([0.5], [], None, [None], [1e300], None, [7.0]),
        "texts": (["a"], None, [], ["5", ""], [None], None, ["b"]),
    }
)
_ROWS_OF_FILES = ((0, 1, 2), (3,), (4, 5), (6,))
_MISSING: Mapping[int, Sequence[str]] = MappingProxyType(
    {1: ("text", "longs", ODD[0]), 2: ("big", "ratio", "doc", ODD[3])}
)
"""File -> columns that it has not: its rows have null there."""


def rows_of(number: int) -> list[dict[str, object]]:
    """The rows of one file, without the columns that it has not."""
    rows = []
    for at in _ROWS_OF_FILES[number]:
        row: dict[str, object] = {"__time": NOON + timedelta(hours=at, microseconds=at)}
        row |= {name: values[at] for name, values in _VALUES.items()}
        row |= {name: f"{name} {at}" if at % 3 else None for name in ODD}
        row |= {"__partition": 0, "__offset": at}
        rows.append({k: v for k, v in row.items() if k not in _MISSING.get(number, ())})
    return rows


FILES = tuple(range(len(_ROWS_OF_FILES)))
ROWS: Sequence[Row] = tuple(row for number in FILES for row in rows_of(number))


@dataclass(frozen=True)
class Filter:
    """What rows are wanted: `column` `op` `value`; op is one of =, <, null, in."""

    column: str
    op: str
    value: Any = None

    def wanted(self) -> Ids:
        """The rows that fit, by SQL's rules: null is equal to nothing, and not less."""
        return {int(str(row["__offset"])) for row in ROWS if self._fits(row.get(self.column))}

    def _fits(self, value: object) -> bool:
        if value is None or self.op == "null":
            return value is None and self.op == "null"
        compare: Callable[[Any, Any], bool] = {
            "=": operator.eq,
            "<": operator.lt,
            "in": lambda held, some: held in some,
        }[self.op]
        return compare(value, self.value)


def filters() -> list[Filter]:
    """Filters on every column; lists and JSON are asked for null, or whole."""
    listed = []
    for column, its_type in TYPES.items():
        listed.append(Filter(column, "null"))
        if pa.types.is_list(its_type):
            continue
        held = [row[column] for row in ROWS if row.get(column) is not None]
        values = held if column in {"text", "big", "ratio"} else held[:1]
        listed += [Filter(column, op, value) for value in values for op in ("=", "<")]
        listed.append(Filter(column, "in", [held[-1], held[0]]))
    return listed


@dataclass(frozen=True)
class Shelf:
    """A table in a warehouse, exported in both formats, and an overlord that lists it."""

    root: Path
    server: Overlord
    listed: list[tuple[str, Sequence[str]]] = field(default_factory=list)
    """The files of the table, with the names of their columns."""

    def publish(self, name: str, rows: Sequence[Row], remove: Sequence[str] = ()) -> None:
        """Add a file with these rows, and take out others, in the list and in the exports."""
        names = [each for each in TYPES if any(each in row for row in rows)]
        columns = {n: pa.array([row.get(n) for row in rows], TYPES[n]) for n in names}
        place = self.root / TABLE / name
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), place)
        times = [NOON + timedelta(0), *(row["__time"] for row in rows)][1:]
        low, high = min(times, key=str), max(times, key=str)
        assert isinstance(low, datetime)
        assert isinstance(high, datetime)
        file = ExportedFile(name, place.stat().st_size, len(rows), low, high, NOON)
        for each in ExportFormat:
            self.format(each).open(TABLE).commit(ExportChange((file,), tuple(remove)), 1, NOON)
        self.listed[:] = [(n, held) for n, held in self.listed if n not in remove]
        self.listed.append((name, names))
        self._answer()

    def format(self, table_format: ExportFormat) -> TableFormat:
        """Who writes it."""
        if table_format is ExportFormat.DELTA:
            return DeltaFormat(self.root)
        return IcebergFormat(self.root, f"sqlite:///{self.root.parent / 'catalog.db'}")

    def location(self, table_format: ExportFormat) -> str:
        """What a reader opens."""
        return str(self.root / self.format(table_format).open(TABLE).standing.location)

    def files(self) -> TableFiles:
        """The list, as `tidegate query` has it."""
        kinds = [
            [Column.model_validate({"name": n, "type": _type(n)}) for n in _users(h)]
            for _, h in self.listed
        ]
        every = {column.name: column for some in kinds for column in some}
        files = ((f"{TABLE}/{name}", number) for number, (name, _) in enumerate(self.listed))
        return table_files(self.root, list(every.values()), kinds, files, TABLE)

    def rows(self, reader: Reader) -> Any:  # noqa: ANN401 -- of each reader another type
        """What the code that people are given reads."""
        code = self.root.parent / f"read_{reader}.py"
        code.write_text(snippet(reader, TABLE, self.server.url, warehouse=str(self.root)))
        return runpy.run_path(str(code))["rows"]

    def _answer(self) -> None:
        listed = self.files()
        answer = listed.model_dump(mode="json", by_alias=True)
        for file in answer["files"]:
            file["uri"] = f"{self.root}/{file['path']}"
        self.server.on("GET", f"/api/v1/datasources/{TABLE}/files", Reply(answer))
        exports = [{"format": str(each), "location": self.location(each)} for each in ExportFormat]
        self.server.on("GET", f"/api/v1/datasources/{TABLE}/exports", Reply({"exports": exports}))


def _type(name: str) -> str:
    return COLUMN_TYPES.get(name, "string")


def _users(names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.startswith("__")]


@contextmanager
def shelf(root: Path) -> Iterator[Shelf]:
    """An empty table in a warehouse of its own."""
    root.mkdir()
    with overlord() as server:
        yield Shelf(root, server)
