"""A declared column that the spec made a number of, or a text: what was a text stays as it was."""

from pathlib import Path

import pytest

from supervisor.control.declared_types import declared_of
from supervisor.control.export_outbox import follow
from supervisor.core.spec.sections.dimensions import Dimension, DimensionsSpec
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Store
from tasks.contract.ingest_spec import ColumnType
from tasks.rows.discovery import common
from tests.supervisor.chores.compactions import TARGET, Dock
from tests.supervisor.chores.exports.exports import DELTA, ICEBERG
from tests.supervisor.chores.exports.test_widened import (
    BOTH,
    assert_right,
    publish,
    values_of,
)
from tests.supervisor.core.snapshots import TOPIC, spec


@pytest.fixture
def dock(store: Store, tmp_path: Path) -> Dock:
    return Dock(store, tmp_path / "warehouse", DELTA, ICEBERG)


def declare(dock: Dock, *kinds: ColumnType) -> None:
    """Store a spec that declares `x` of this type, or leaves it to discovery."""
    wanted = spec(task_count=1)
    dimensions = DimensionsSpec(
        dimensions=tuple(Dimension(name="x", type=kind) for kind in kinds),
        include_all_dimensions=True,
        use_schema_discovery=True,
    )
    schema = wanted.data_schema.model_copy(
        update={"dimensions_spec": dimensions, "exports": (DELTA, ICEBERG)}
    )
    dock.set_spec(wanted.model_copy(update={"data_schema": schema}))
    with dock.store.leading(dock.leadership.term()) as tx:
        follow(tx, TOPIC, dock.clock.now())


def types_in(dock: Dock) -> dict[str, str]:
    """The types that the list of files tells."""
    with dock.store.reading() as tx:
        segments = tx.segments.of_data_source(TOPIC)
    found = common((each.columns for each in segments), declared_of(dock.store, segments))
    return {column.name: column.type for column in found}


@BOTH
@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [("long", [7], ["7"]), ("double", [0.5, 7.0, 1e300], ["0.5", "7", "1.0E300"])],
)
def test_old_texts_stay_texts_where_a_number_is_declared(
    dock: Dock, table_format: ExportFormat, kind: ColumnType, values: list[object], texts: list[str]
) -> None:
    """Goal: neither quotes nor other rows for who filters by what he wrote; there and back."""
    declare(dock, "string")
    publish(dock, "string", "a", "5")
    dock.export(table_format)
    declare(dock, kind)
    publish(dock, kind, *values)
    dock.export(table_format)

    assert types_in(dock)["x"] == "string"
    assert_right(dock, table_format)
    assert values_of(dock, table_format) == sorted(["a", "5", *texts])

    declare(dock, "string")
    publish(dock, "string", "b")
    dock.export(table_format)
    assert_right(dock, table_format)
    assert values_of(dock, table_format) == sorted(["a", "5", *texts, "b"])


def test_a_terminated_supervisors_declaration_goes_on_to_count(dock: Dock) -> None:
    declare(dock, "string")
    publish(dock, "string", "a")
    declare(dock, "long")
    publish(dock, "long", 7)
    dock.set_spec(None)

    assert types_in(dock)["x"] == "string"


def test_texts_and_numbers_of_a_field_that_nobody_declares_keep_apart(dock: Dock) -> None:
    """Goal: of what was discovered 7 and "7" are two values."""
    declare(dock)
    publish(dock, "string", "7")
    publish(dock, "long", 7)
    dock.export(DELTA)

    assert types_in(dock)["x"] == "json"
    assert values_of(dock, DELTA) == ['"7"', "7"]


def test_a_compaction_writes_texts_and_numbers_of_a_declared_column_as_texts(dock: Dock) -> None:
    """Goal: nothing is made JSON for good."""
    declare(dock, "string")
    publish(dock, "string", "a")
    declare(dock, "long")
    publish(dock, "long", 7)

    dock.compact(TARGET)

    [assignment] = dock.assignments()
    assert {c.name: c.type for c in assignment.order.columns}["x"] == "string"
