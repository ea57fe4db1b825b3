"""DuckDB SQL that casts stored values to a column's wider type.  Pure.

The SQL gives the same values as `tasks.rows.discovery.wider` in Spark: those that a file would have
if the wider type had been known when it was written.
"""

from tasks.contract.ingest_spec import ColumnType
from tasks.rows.arrays import ELEMENTS, EXACT_MAX

DUCK = {
    "long": "BIGINT",
    "double": "DOUBLE",
    "float": "FLOAT",
    "array<long>": "BIGINT[]",
    "array<double>": "DOUBLE[]",
    "array<string>": "VARCHAR[]",
}
"""Type of a column -> DuckDB type; columns of any other type are VARCHAR."""


def cast_sql(column: str, was: ColumnType | str, wanted: ColumnType | str) -> str:
    """Return the SQL that casts the quoted name `column` from type `was` to type `wanted`."""
    if wanted in {"double", "array<double>"}:
        return f"CAST({column} AS {DUCK[wanted]})"
    if was in ELEMENTS:
        texts = _texts_of(column, was)
        return texts if wanted in ELEMENTS else f"CAST(to_json({texts}) AS VARCHAR)"
    if wanted == "string" and was in {"double", "float"}:  # declared columns alone: see `common`
        return f"list_transform([CAST({column} AS DOUBLE)], lambda x: {_text_of('x')})[1]"
    if was == "string":
        return f"CAST(to_json({column}) AS VARCHAR)"
    if was in {"double", "float"}:
        double = f"CAST({column} AS DOUBLE)"
        whole = f"{double} = floor({double}) AND abs({double}) <= {EXACT_MAX}"
        text = f"CAST(to_json({double}) AS VARCHAR)"
        return f"CASE WHEN {whole} THEN CAST(CAST({double} AS BIGINT) AS VARCHAR) ELSE {text} END"
    return f"CAST({column} AS VARCHAR)"


def _texts_of(column: str, was: str) -> str:
    """Return the SQL of an array's elements as texts; numbers as the task's merge writes them."""
    if was != "array<double>":
        return f"CAST({column} AS VARCHAR[])"
    return f"list_transform({column}, lambda x: {_text_of('x')})"


def _text_of(number: str) -> str:
    """Return the SQL of a double as text, as Java writes it; a whole number as a long."""
    whole = f"{number} = floor({number}) AND abs({number}) <= {EXACT_MAX}"
    sign = f"CASE WHEN {number} > 0 THEN 'Infinity' ELSE '-Infinity' END"
    return (
        f"CASE WHEN {number} IS NULL THEN NULL "
        f"WHEN isnan({number}) THEN 'NaN' WHEN isinf({number}) THEN {sign} "
        f"WHEN {whole} THEN CAST(CAST({number} AS BIGINT) AS VARCHAR) "
        f"WHEN abs({number}) >= 1e-3 AND abs({number}) < 1e7 THEN CAST({number} AS VARCHAR) "
        f"ELSE {_scientific(number)} END"
    )


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
