"""Each reader that the docs name, to filter the table of `readers_table`."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyarrow.dataset import Dataset
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from pyiceberg import expressions as ice
from pyiceberg.expressions.literals import literal
from pyiceberg.table import StaticTable

from supervisor.cli.table.duck import run_query
from supervisor.cli.table.table_sql import named, quoted
from supervisor.core.tables.snippets import Reader
from supervisor.core.values.export_formats import ExportFormat
from tests.supervisor.adapters.tables.readers_table import TABLE, TYPES, Filter, Ids, Shelf, filters

Find = Callable[[Filter], Ids]


def _query(shelf: Shelf) -> Find:
    every = filters()
    parts = [
        f"SELECT {number}, __offset FROM {TABLE} WHERE {named(each.column)} {_condition(each)}"  # noqa: S608 -- a test's own
        for number, each in enumerate(every)
    ]
    rows = run_query(" UNION ALL ".join(parts), [shelf.files()], None, None).rows
    found = [{at for number, at in rows if number == n} for n in range(len(every))]
    return lambda wanted: {int(str(at)) for at in found[every.index(wanted)]}


def _condition(wanted: Filter) -> str:
    match wanted.op:
        case "null":
            return "IS NULL"
        case "in":
            return f"IN ({', '.join(map(_literal, wanted.value))})"
        case op:
            return f"{op} {_literal(wanted.value)}"


def _literal(value: object) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ {quoted(value.isoformat())}"
    if isinstance(value, float):
        return f"CAST({quoted(repr(value))} AS DOUBLE)"
    return quoted(value) if isinstance(value, str) else str(value)


def _duckdb(rows: duckdb.DuckDBPyRelation) -> Find:
    def find(wanted: Filter) -> Ids:
        column: Any = duckdb.ColumnExpression(wanted.column)
        constant = duckdb.ConstantExpression
        match wanted.op:
            case "null":
                where = column.isnull()
            case "in":
                where = column.isin(*map(constant, wanted.value))
            case "=":
                where = column == constant(wanted.value)
            case _:
                where = column < constant(wanted.value)
        return {row[0] for row in rows.filter(where).project("__offset").fetchall()}

    return find


def _polars(rows: pl.LazyFrame) -> Find:
    def find(wanted: Filter) -> Ids:
        column = pl.col(wanted.column)
        conditions: dict[str, Callable[[], pl.Expr]] = {
            "null": column.is_null,
            "in": lambda: column.is_in(wanted.value),
            "=": lambda: column == wanted.value,
            "<": lambda: column < wanted.value,
        }
        where = conditions[wanted.op]()
        return set(rows.filter(where).select("__offset").collect()["__offset"].to_list())

    return find


def _pandas(rows: Any) -> Find:  # noqa: ANN401 -- pandas has no types
    def find(wanted: Filter) -> Ids:
        column = rows[wanted.column]
        where = {
            "null": column.isna,
            "in": lambda: column.isin(wanted.value),
            "=": lambda: (column == wanted.value).fillna(False),
            "<": lambda: (column < wanted.value).fillna(False),
        }[wanted.op]()
        return set(rows[where]["__offset"].tolist())

    return find


def arrow_filter(wanted: Filter) -> pc.Expression:
    """A filter as Arrow writes it."""
    column = pc.field(wanted.column)
    match wanted.op:
        case "null":
            return column.is_null()
        case "in":
            return column.isin(pa.array(wanted.value, TYPES[wanted.column]))
        case "=":
            return column == pa.scalar(wanted.value, TYPES[wanted.column])
        case _:
            return column < pa.scalar(wanted.value, TYPES[wanted.column])


def _deltalake(shelf: Shelf, *, in_pandas: bool = False) -> Find:
    table, files = _delta(shelf)

    def find(wanted: Filter) -> Ids:
        filters: Any = [(wanted.column, wanted.op, wanted.value)]
        if wanted.op == "null":
            filters = arrow_filter(wanted)
        if in_pandas:
            rows = table.to_pandas(filters=filters, filesystem=files, columns=["__offset"])
            return set(rows["__offset"].tolist())
        found = table.to_pyarrow_table(filters=filters, filesystem=files, columns=["__offset"])
        return set(found["__offset"].to_pylist())

    return find


def _delta(shelf: Shelf) -> tuple[DeltaTable, SubTreeFileSystem]:
    location = shelf.location(ExportFormat.DELTA)
    return DeltaTable(location), SubTreeFileSystem(location, LocalFileSystem())


def delta_dataset(shelf: Shelf) -> Dataset:
    """The Delta table as a dataset of Arrow's."""
    table, files = _delta(shelf)
    return table.to_pyarrow_dataset(filesystem=files)


def _arrow(shelf: Shelf) -> Find:
    dataset = delta_dataset(shelf)

    def find(wanted: Filter) -> Ids:
        found = dataset.to_table(columns=["__offset"], filter=arrow_filter(wanted))
        return set(found["__offset"].to_pylist())

    return find


def _duckdb_delta(shelf: Shelf) -> Find:
    return _duckdb(duckdb.from_arrow(delta_dataset(shelf)))


def iceberg_table(shelf: Shelf) -> StaticTable:
    """The Iceberg table as it is now."""
    return StaticTable.from_metadata(shelf.location(ExportFormat.ICEBERG))


def iceberg_filter(wanted: Filter) -> ice.BooleanExpression:
    """A filter as PyIceberg writes it."""
    column = ice.Reference(wanted.column)
    match wanted.op:
        case "null":
            return ice.IsNull(term=column)
        case "in":
            return ice.In(term=column, literals=set(map(literal, wanted.value)))
        case "=":
            return ice.EqualTo(term=column, value=literal(wanted.value))
        case _:
            return ice.LessThan(term=column, value=literal(wanted.value))


def _pyiceberg(shelf: Shelf) -> Find:
    table = iceberg_table(shelf)

    def find(wanted: Filter) -> Ids:
        scan = table.scan(row_filter=iceberg_filter(wanted), selected_fields=("__offset",))
        return set(scan.to_arrow()["__offset"].to_pylist())

    return find


def _scan_delta(shelf: Shelf, *, use_pyarrow: bool) -> Find:
    return _polars(pl.scan_delta(shelf.location(ExportFormat.DELTA), use_pyarrow=use_pyarrow))


READERS: Mapping[str, Callable[[Shelf], Find]] = MappingProxyType(
    {
        "tidegate query": _query,
        "duckdb": lambda shelf: _duckdb(shelf.rows(Reader.DUCKDB)),
        "polars": lambda shelf: _polars(shelf.rows(Reader.POLARS).lazy()),
        "pandas": lambda shelf: _pandas(shelf.rows(Reader.PANDAS)),
        "deltalake": _deltalake,
        "deltalake, pandas": lambda shelf: _deltalake(shelf, in_pandas=True),
        "deltalake, pyarrow": _arrow,
        "deltalake, duckdb": _duckdb_delta,
        "polars, delta": lambda shelf: _scan_delta(shelf, use_pyarrow=False),
        "polars, delta, pyarrow": lambda shelf: _scan_delta(shelf, use_pyarrow=True),
        "pyiceberg": _pyiceberg,
        "polars, iceberg": lambda shelf: _polars(
            pl.scan_iceberg(shelf.location(ExportFormat.ICEBERG))
        ),
    }
)
