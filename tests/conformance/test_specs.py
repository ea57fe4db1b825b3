"""Spec versions: append-only, the newest counts, a tombstone ends a supervisor."""

from supervisor.core.model.rows import SpecHead
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec
from tests.conformance.stories import CLICKS, HOUR, NOON, Leader
from tests.supervisor.core.spec.spec_documents import changed, created


def _spec(task_count: int = 2) -> SupervisorSpec:
    return read_spec(changed("/spec/ioConfig/taskCount", task_count, created())).spec


def test_a_version_is_read_back_as_it_was_stored(leader: Leader) -> None:
    with leader.writes() as tx:
        stored = tx.specs.append(CLICKS, _spec(), NOON, "ada")

    with leader.reads() as tx:
        assert tx.specs.newest(CLICKS) == stored
        assert tx.specs.version(CLICKS, 1) == stored
    assert (stored.version, stored.spec, stored.author) == (1, _spec(), "ada")


def test_versions_count_up_and_the_newest_comes_first(leader: Leader) -> None:
    for number in (1, 2, 3):
        with leader.writes() as tx:
            assert tx.specs.append(CLICKS, _spec(number), NOON, "").version == number

    with leader.reads() as tx:
        assert [v.version for v in tx.specs.history(CLICKS)] == [3, 2, 1]
        assert [v.version for v in tx.specs.history(CLICKS, limit=2)] == [3, 2]
        newest = tx.specs.newest(CLICKS)
        assert newest is not None
        assert newest.spec == _spec(3)


def test_a_tombstone_is_the_newest_version_and_a_spec_may_follow_it(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.specs.append(CLICKS, _spec(), NOON, "")
        assert tx.specs.append(CLICKS, None, NOON + HOUR, "").terminated

    with leader.reads() as tx:
        newest = tx.specs.newest(CLICKS)
        assert newest is not None
        assert newest.terminated

    with leader.writes() as tx:
        assert tx.specs.append(CLICKS, _spec(), NOON + 2 * HOUR, "").version == 3


def test_all_newest_names_each_supervisor_once_by_id(leader: Leader) -> None:
    with leader.writes() as tx:
        for supervisor_id in ("b", "a", "C", "b"):
            tx.specs.append(supervisor_id, _spec(), NOON, "")
        tx.specs.append("a", None, NOON, "")

    with leader.reads() as tx:
        newest = [(v.supervisor_id, v.version, v.terminated) for v in tx.specs.all_newest()]
    assert newest == [("C", 1, False), ("a", 2, True), ("b", 2, False)]


def test_many_versions_are_read_at_once(leader: Leader) -> None:
    many = [(f"s{number}", 1) for number in range(1_200)]
    with leader.writes() as tx:
        for number in (1, 2, 3):
            tx.specs.append(CLICKS, _spec(number), NOON, "")
        tx.specs.append(CLICKS, None, NOON, "")
        tx.specs.append(many[-1][0], _spec(), NOON, "")

    with leader.reads() as tx:
        found = tx.specs.versions([(CLICKS, 1), (CLICKS, 3), (CLICKS, 4), (CLICKS, 5), *many])
        assert tx.specs.versions([]) == {}
        assert found == {
            key: tx.specs.version(*key) for key in [(CLICKS, 1), (CLICKS, 3), (CLICKS, 4), many[-1]]
        }


def test_heads_have_the_newest_number_of_each_id(leader: Leader) -> None:
    with leader.writes() as tx:
        for supervisor_id in ("b", "a", "C", "b"):
            tx.specs.append(supervisor_id, _spec(), NOON, "")
        tx.specs.append("a", None, NOON, "")

    with leader.reads() as tx:
        heads = [SpecHead("C", 1, False), SpecHead("a", 2, True), SpecHead("b", 2, False)]
        assert tx.specs.heads() == heads


def test_tables_are_those_of_the_newest_specs(leader: Leader) -> None:
    with leader.writes() as tx:
        for supervisor_id, tables in {"a": "xy", "b": "y", "ended": "z"}.items():
            for table in tables:
                document = changed("/spec/dataSchema/dataSource", f"table-{table}", created())
                tx.specs.append(supervisor_id, read_spec(document).spec, NOON, "")
        tx.specs.append("ended", None, NOON, "")

    with leader.reads() as tx:
        assert tx.specs.tables() == {"a": "table-y", "b": "table-y"}
        assert tx.specs.tables_of("a") == ["table-y", "table-x"]
        assert tx.specs.tables_of("a", limit=1) == ["table-y"]
        assert tx.specs.tables_of("ended") == ["table-z"]


def test_an_id_that_was_never_used_has_no_version(leader: Leader) -> None:
    with leader.reads() as tx:
        assert tx.specs.newest("never") is None
        assert tx.specs.version("never", 1) is None
        assert tx.specs.history("never") == []
        assert tx.specs.all_newest() == []
        assert tx.specs.heads() == []
        assert tx.specs.tables() == {}
        assert tx.specs.tables_of("never") == []
