"""What differs between a table and its export, how far behind it is, what does not fit."""

import ast
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import schema_digest
from supervisor.core.tables.exports import (
    Cast,
    Export,
    ExportChange,
    ExportedFile,
    ExportState,
    ExportVersion,
    Waiting,
    change_of,
    copies_of,
    files_of,
    lag_of,
    misread_in,
    new_columns,
    queue_of,
    state_of,
)
from supervisor.core.tables.snippets import Reader, snippet
from supervisor.core.values.errors import InvalidSpec, NotExportable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.services.supervisors.admission import OperatorPolicy
from tasks.contract.ingest_spec import Column
from tests.conformance.stories import HOUR, NOON, segment
from tests.supervisor.core.spec.spec_documents import changed, errors_of

ROW = Export("orders", ExportFormat.DELTA, enabled=True)
_names = st.sets(st.sampled_from("abcdefgh"))


def file(path: str) -> ExportedFile:
    return ExportedFile(path, 1, 1, NOON, NOON, NOON)


@given(held=_names, wanted=_names)
def test_a_change_makes_one_list_the_other(held: set[str], wanted: set[str]) -> None:
    change = change_of(held, [file(name) for name in wanted])

    added = {each.path for each in change.add}
    assert (held | added) - set(change.remove) == wanted
    assert not added & held
    assert change.empty is (held == wanted)
    assert change.empty is (change == ExportChange())


def test_an_older_list_does_not_replace_a_newer_one() -> None:
    newer = ROW.advanced_to(7, ExportVersion(3, "orders"), NOON)

    assert newer.advanced_to(6, ExportVersion(2, "orders"), NOON + HOUR) == newer
    assert newer.advanced_to(7, ExportVersion(4, "orders"), NOON + HOUR).exported_at == NOON + HOUR


def test_a_problem_counts_from_the_first_change_it_keeps_out() -> None:
    stuck = ROW.stuck("a", NOON).stuck("b", NOON + HOUR)

    assert (stuck.problem, stuck.behind_since) == ("b", NOON)
    assert lag_of(stuck, NOON + HOUR, NOON + 2 * HOUR) == 2 * HOUR
    assert lag_of(ROW, NOON + HOUR, NOON + 2 * HOUR) == HOUR
    assert lag_of(ROW, None, NOON) == timedelta(0)
    assert lag_of(replace(stuck, enabled=False), NOON, NOON + HOUR) == timedelta(0)
    assert stuck.switched(on=False).problem == ""


@pytest.mark.parametrize(
    ("row", "waiting", "state"),
    [
        (ROW, Waiting(), ExportState.EQUAL),
        (ROW, Waiting(NOON), ExportState.BEHIND),
        (ROW, Waiting(NOON, failures=1, error="x"), ExportState.FAILING),
        (ROW, Waiting(error="dead"), ExportState.FAILING),
        (ROW.stuck("x", NOON), Waiting(NOON, failures=1), ExportState.STUCK),
        (replace(ROW, enabled=False), Waiting(NOON), ExportState.OFF),
    ],
)
def test_states_of_an_export(row: Export, waiting: Waiting, state: ExportState) -> None:
    assert state_of(row, waiting) is state


def test_paths_are_below_the_table_and_nothing_else_is_exported() -> None:
    [found] = files_of("table", [segment("table/data/t1/x.parquet", NOON)])
    assert found.path == "data/t1/x.parquet"

    with pytest.raises(NotExportable, match="does not lie in the folder"):
        files_of("table", [segment("table__errors/data/t1/x.parquet", NOON)])


def test_a_file_whose_column_has_not_the_tables_type_is_exported_as_a_copy() -> None:
    """Goal: JSON texts and plain ones look alike in Parquet; a reader must not get a mixture."""
    one, two = (segment(f"table/data/t{n}/x.parquet", NOON) for n in (1, 2))
    texts = replace(one, columns=(Column(name="a"),))
    mixed = replace(two, columns=(Column(name="a", type="json"), Column(name="b")))

    copy, own = files_of("table", [texts, mixed])
    [alone] = files_of("table", [texts])

    assert (copy.source, copy.casts) == (alone.path, (Cast("a", "string", "json"),))
    assert f"table/{copy.path}".startswith(f"{copies_of(one.file.path)}/")
    assert [(each.path, each.casts) for each in (own, alone)] == [
        ("data/t2/x.parquet", ()),
        ("data/t1/x.parquet", ()),
    ]


def test_a_copy_has_a_name_for_each_type_that_its_columns_get() -> None:
    """Goal: what is there under a name has these types, whoever made it."""
    old = replace(
        segment("table/data/t1/x.parquet", NOON), columns=(Column(name="a", type="long"),)
    )
    doubles, texts = (
        replace(segment("table/data/t2/x.parquet", NOON), columns=(Column(name="a", type=kind),))
        for kind in ("double", "string")
    )

    first, again, other = (files_of("table", [old, new])[0] for new in (doubles, doubles, texts))

    assert first == again
    assert (first.casts[0].wanted, other.casts[0].wanted) == ("double", "json")
    assert first.path != other.path


def test_columns_are_added_and_never_changed() -> None:
    held = {"a": "string"}

    assert new_columns(held, "f", {"b": "long", "a": "string"}) == ["b"]
    with pytest.raises(NotExportable, match=r"column a is string .* and long in f"):
        new_columns(held, "f", {"a": "long"})
    with pytest.raises(NotExportable, match="column A of f differs in case only from a"):
        new_columns(held, "f", {"A": "string"})
    with pytest.raises(NotExportable, match="column B of f differs in case only from b"):
        new_columns(held, "f", {"b": "long", "B": "long"})


def test_each_table_and_format_has_a_queue_of_its_own() -> None:
    assert str(queue_of("orders", ExportFormat.ICEBERG)) == "table:orders/export-iceberg"


# -- in a spec -------------------------------------------------------------------------------------

EXPORTS = "/spec/dataSchema/exports"


def test_exports_are_a_set_and_make_no_other_rows() -> None:
    plain = read_spec(changed(EXPORTS, [])).spec
    both = read_spec(changed(EXPORTS, ["iceberg", "delta", "iceberg"])).spec

    assert plain.data_schema.exports == ()
    assert both.data_schema.exports == (ExportFormat.DELTA, ExportFormat.ICEBERG)
    assert schema_digest(plain) == schema_digest(both)


@pytest.mark.parametrize(
    ("value", "pointer", "hint"),
    [
        (["orc"], f"{EXPORTS}/0", "use one of delta, iceberg"),
        (["Delta"], f"{EXPORTS}/0", "did you mean delta?"),
        ([7], f"{EXPORTS}/0", "use one of delta, iceberg"),
        ("delta", EXPORTS, ""),
    ],
)
def test_what_is_no_format_is_told_with_its_place(value: object, pointer: str, hint: str) -> None:
    [error] = errors_of(changed(EXPORTS, value))

    assert (error.pointer, error.hint) == (pointer, hint)


@pytest.mark.parametrize("reader", Reader)
def test_where_callers_are_known_a_snippet_sends_the_token_of_the_environment(
    reader: Reader,
) -> None:
    plain = snippet(reader, "clicks", "http://o")
    known = snippet(reader, "clicks", "http://o", with_token=True)
    ast.parse(known)
    assert "TOKEN" not in plain
    assert 'os.environ["TIDEGATE_TOKEN"]' in known
    assert known.count("headers=token") == 1


def test_a_spec_is_refused_whose_export_cannot_lie_in_this_warehouse() -> None:
    """Goal: the answer names the format and what to change; the other format is taken."""
    wanted = read_spec(changed(EXPORTS, ["delta", "iceberg"])).spec
    rules = OperatorPolicy(timedelta(seconds=60), misread=misread_in("/data/a%41"))

    with pytest.raises(InvalidSpec) as refused:
        rules.check(wanted)

    [error] = refused.value.errors
    assert error.pointer == EXPORTS
    assert error.message.startswith("delta: ")
    assert "%41" in error.message
