"""What a spec's types make of a table whose files have other types, in words."""

import pytest

from supervisor.core.tables.column_types import mixed_types
from tasks.contract.ingest_spec import Column, ColumnType


@pytest.mark.parametrize(
    ("was", "declared", "becomes"),
    [
        ("string", "long", "string"),
        ("string", "double", "string"),
        ("long", "array<long>", "json"),
        ("json", "string", "json"),
        ("long", "string", None),
        ("long", "double", None),
        ("long", "json", None),
        ("long", "long", None),
    ],
)
def test_a_column_that_its_table_has_with_another_type_is_warned_of(
    was: ColumnType, declared: ColumnType, becomes: str | None
) -> None:
    columns = [Column(name="user", type=declared), Column(name="new", type="long")]

    warnings = mixed_types(columns, [[Column(name="user", type=was)]])

    if becomes is None:
        assert warnings == []
    else:
        [warning] = warnings
        assert f"column user is declared {declared}" in warning
        assert f"as {was}: the table's type of it is {becomes} " in warning
