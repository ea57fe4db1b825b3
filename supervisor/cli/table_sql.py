"""DuckDB's SQL for a table: the rows of the files that are listed, in the table's own types.

A column's type may have grown since a file was written; see `tasks.discovery` for what a value
becomes then.
"""

from collections.abc import Mapping, Sequence

from supervisor.cli.answers import Files, TableColumn
from tasks.arrays import ELEMENTS, EXACT_MAX

_COLUMNS = "COLUMNS(lambda c: c <> '__at' AND NOT starts_with(c, '__of_'))"
"""All but what rows hold only until they are rolled up."""

_DUCK = {
    "long": "BIGINT",
    "double": "DOUBLE",
    "float": "FLOAT",
    "array<long>": "BIGINT[]",
    "array<double>": "DOUBLE[]",
    "array<string>": "VARCHAR[]",
}
_TEXT = "VARCHAR"


def rows_sql(table: Files, paths: Sequence[str]) -> str:
    """Return the SQL of all rows; `paths` are those of the table's files, in their order."""
    types = {column.name: column.type for column in table.columns}
    alike: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for file, path in zip(table.files, paths, strict=True):
        had = () if file.column_set is None else table.column_sets[file.column_set]
        alike.setdefault(_widened(had, types), []).append(path)
    parts = [_select(columns, found) for columns, found in alike.items()]
    return " UNION ALL BY NAME ".join(parts)


def named(identifier: str) -> str:
    """Quote an identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def quoted(value: str) -> str:
    """Quote a text."""
    return "'" + value.replace("'", "''") + "'"


def _widened(
    had: Sequence[TableColumn], types: Mapping[str, str]
) -> tuple[tuple[str, str, str], ...]:
    """Return (name, its type in a file, its type in the table) where these differ."""
    own = ((column.name, column.type, types.get(column.name, column.type)) for column in had)
    return tuple((name, was, wanted) for name, was, wanted in own if was != wanted)


def _select(widened: Sequence[tuple[str, str, str]], paths: Sequence[str]) -> str:
    files = ", ".join(quoted(path) for path in paths)
    source = f"read_parquet([{files}], union_by_name = true, hive_partitioning = false)"
    if not widened:
        return f"SELECT {_COLUMNS} FROM {source}"  # noqa: S608 -- both quoted
    casts = ", ".join(f"{_cast(*column)} AS {named(column[0])}" for column in widened)
    # A file may lack a column of its set: without a row of it, too, the column has to be there.
    empty = ", ".join(
        f"CAST(NULL AS {_DUCK.get(was, _TEXT)}) AS {named(name)}" for name, was, _ in widened
    )
    whole = f"SELECT * FROM {source} UNION ALL BY NAME SELECT {empty} WHERE false"  # noqa: S608 -- all quoted
    return f"SELECT {_COLUMNS} FROM (SELECT * REPLACE ({casts}) FROM ({whole}))"  # noqa: S608 -- all quoted


def _cast(name: str, was: str, wanted: str) -> str:
    column = named(name)
    if wanted in {"double", "array<double>"}:
        return f"CAST({column} AS {_DUCK[wanted]})"
    if was in ELEMENTS:
        texts = _texts_of(column, was)
        return texts if wanted in ELEMENTS else f"CAST(to_json({texts}) AS VARCHAR)"
    if was == "string":
        return f"CAST(to_json({column}) AS VARCHAR)"
    if was in {"double", "float"}:
        double = f"CAST({column} AS DOUBLE)"
        whole = f"{double} = floor({double}) AND abs({double}) <= {EXACT_MAX}"
        text = f"CAST(to_json({double}) AS VARCHAR)"
        return f"CASE WHEN {whole} THEN CAST(CAST({double} AS BIGINT) AS VARCHAR) ELSE {text} END"
    return f"CAST({column} AS VARCHAR)"


def _texts_of(column: str, was: str) -> str:
    """Return the SQL of an array's elements as texts; numbers as the merge writes them."""
    if was != "array<double>":
        return f"CAST({column} AS VARCHAR[])"
    whole = f"x = floor(x) AND abs(x) <= {EXACT_MAX}"
    named_so = "CASE WHEN isnan(x) THEN 'NaN' WHEN x > 0 THEN 'Infinity' ELSE '-Infinity' END"
    text = (
        f"CASE WHEN x IS NULL THEN NULL WHEN {whole} THEN CAST(CAST(x AS BIGINT) AS VARCHAR) "
        f"WHEN isnan(x) OR isinf(x) THEN {named_so} "
        f"WHEN abs(x) >= 1e-3 AND abs(x) < 1e7 THEN CAST(x AS VARCHAR) ELSE {_scientific('x')} END"
    )
    return f"list_transform({column}, lambda x: {text})"


def _scientific(number: str) -> str:
    """Return the SQL of a number with an exponent as Java writes it: `1.0E300`, `1.5E-7`."""
    text = f"CAST(abs({number}) AS VARCHAR)"  # `1.5e-07`, `0.0001` or `12345678.9`
    mantissa, exponent = f"split_part({text}, 'e', 1)", f"split_part({text}, 'e', 2)"
    before = f"split_part({mantissa}, '.', 1)"
    digits = f"replace({mantissa}, '.', '')"
    leading = f"(length({digits}) - length(ltrim({digits}, '0')))"
    power = f"coalesce(TRY_CAST({exponent} AS INTEGER), 0) + length({before}) - 1 - {leading}"
    exact = f"trim({digits}, '0')"
    rest = f"coalesce(nullif(substr({exact}, 2), ''), '0')"
    sign = f"CASE WHEN {number} < 0 THEN '-' ELSE '' END"
    return f"concat({sign}, substr({exact}, 1, 1), '.', {rest}, 'E', {power})"
