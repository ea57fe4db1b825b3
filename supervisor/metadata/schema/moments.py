"""Moments in SQL: the beginning of the step that a time lies in, on SQLite and on PostgreSQL."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, bindparam, type_coerce
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Words = Any
"""What SQLAlchemy passes on from one compiler to the next."""


class WholeSeconds(FunctionElement[int]):
    """Whole seconds from 1970 to a time, rounded down."""

    name = "whole_seconds"
    inherit_cache: bool | None = True


@compiles(WholeSeconds)
def _on_postgresql(element: WholeSeconds, compiler: SQLCompiler, **words: Words) -> str:
    at = compiler.process(element.clauses, **words)
    return f"CAST(FLOOR(EXTRACT(EPOCH FROM {at})) AS BIGINT)"


@compiles(WholeSeconds, "sqlite")
def _on_sqlite(element: WholeSeconds, compiler: SQLCompiler, **words: Words) -> str:
    return f"CAST(STRFTIME('%s', {compiler.process(element.clauses, **words)}) AS INTEGER)"


def step_of(at: ColumnElement[datetime], name: str = "step_s") -> ColumnElement[int]:
    """Return when the step of a time begins, in seconds; `name`: the parameter of its length."""
    seconds = type_coerce(WholeSeconds(at), BigInteger())
    length = bindparam(name, type_=BigInteger())
    # Before 1970 a remainder of SQL is negative, where the step begins before the time.
    return seconds - (seconds % length + length) % length


def moment_of(seconds: int) -> datetime:
    """Return the time so many seconds after the beginning of 1970; the year 1 at the earliest."""
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
