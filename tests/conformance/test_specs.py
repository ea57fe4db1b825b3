"""Spec versions: append-only, the newest counts, a tombstone ends a supervisor."""

from supervisor.core.model.rows import PresentVersion, SpecHead, TerminatedSupervisor
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.permissions import Actor
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


def test_present_are_the_newest_versions_that_are_no_tombstones(leader: Leader) -> None:
    with leader.writes() as tx:
        for supervisor_id, author in (("b", "ada"), ("a", "bob"), ("rests", "eve"), ("b", "cy")):
            tx.specs.append(supervisor_id, _spec(), NOON, author)
        tx.specs.append("ended", _spec(), NOON, "")
        tx.specs.append("ended", None, NOON, "")
        assert tx.specs.rest("rests", 1, NOON + HOUR)

    with leader.reads() as tx:
        assert tx.specs.present() == [
            PresentVersion("a", 1, NOON, "bob", rests=False),
            PresentVersion("b", 2, NOON, "cy", rests=False),
            PresentVersion("rests", 1, NOON, "eve", rests=True),
        ]


def test_terminated_are_those_whose_newest_version_is_a_tombstone(leader: Leader) -> None:
    suspended = _spec().model_copy(update={"suspended": True})
    with leader.writes() as tx:
        for supervisor_id in ("runs", "back", "ended", "twice"):
            tx.specs.append(supervisor_id, _spec(), NOON, "")
        for supervisor_id in ("back", "twice"):
            tx.specs.append(supervisor_id, None, NOON, "eve")
            tx.specs.append(supervisor_id, _spec(), NOON, "")
        tx.specs.append("ended", suspended, NOON, "")  # has the document of the version before
        tx.specs.append("ended", None, NOON + HOUR, Actor.named("ada", "moved"))
        tx.specs.append("twice", None, NOON, "bob")

    with leader.reads() as tx:
        table = _spec().data_source
        found = sorted(tx.specs.terminated(), key=lambda each: each.supervisor_id)
        assert found == [
            TerminatedSupervisor("ended", 2, table, NOON + HOUR, "ada", "moved"),
            TerminatedSupervisor("twice", 3, table, NOON, "bob", None),
        ]

    with leader.writes() as tx:
        tx.specs.forget("ended", 3)
        assert [each.supervisor_id for each in tx.specs.terminated()] == ["twice"]


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


def test_a_completed_supervisor_rests_until_a_new_version_or_a_reset(leader: Leader) -> None:
    """Goal: what looks at all supervisors costs what the live ones cost."""
    with leader.writes() as tx:
        for supervisor_id in ("a", "b", "ended"):
            tx.specs.append(supervisor_id, _spec(), NOON, "")
        tx.specs.append("ended", None, NOON, "")
        assert tx.specs.rest("a", 1, NOON)
        assert not tx.specs.rest("a", 1, NOON + HOUR), "it rests already"
        assert not tx.specs.rest("b", 2, NOON), "another version than the one that was looked at"
        assert not tx.specs.rest("ended", 2, NOON)

    with leader.reads() as tx:
        assert tx.specs.awake() == [SpecHead("b", 1, False)]
        assert tx.specs.at_rest() == tx.specs.at_rest(NOON) == [SpecHead("a", 1, False)]
        assert tx.specs.at_rest(NOON + HOUR) == []
        newest = tx.specs.newest_or_unreadable(awake=True)
        assert [version.supervisor_id for version in newest] == ["b"]
        assert [head.supervisor_id for head in tx.specs.heads()] == ["a", "b", "ended"]

    with leader.writes() as tx:
        tx.specs.awaken("a")
        tx.specs.awaken("ended")
        assert tx.specs.awake() == [SpecHead("a", 1, False), SpecHead("b", 1, False)]
        assert tx.specs.rest("b", 1, NOON)
        tx.specs.append("b", _spec(3), NOON, "")
        assert tx.specs.awake() == [SpecHead("a", 1, False), SpecHead("b", 2, False)]
        assert tx.specs.at_rest() == []
        tx.specs.append("b", None, NOON, "")
        assert tx.specs.awake() == [SpecHead("a", 1, False)]


def test_ended_tasks_are_those_that_were_submitted_and_rest_for_long(leader: Leader) -> None:
    with leader.writes() as tx:
        for number, task_id in enumerate(("late", "early", "awake")):
            tx.specs.append(task_id, _spec(), NOON, "", submitted=True)
            tx.specs.append(task_id, _spec(number + 3), NOON, "")
        tx.specs.append("applied", _spec(), NOON, "")
        tx.specs.append("used again", _spec(), NOON, "", submitted=True)
        tx.specs.append("used again", None, NOON, "")
        tx.specs.append("used again", _spec(), NOON, "")
        for supervisor_id, version, at in (
            ("late", 2, NOON + HOUR),
            ("early", 2, NOON),
            ("applied", 1, NOON),
            ("used again", 3, NOON),
        ):
            assert tx.specs.rest(supervisor_id, version, at)

    early, late = SpecHead("early", 2, False), SpecHead("late", 2, False)
    with leader.reads() as tx:
        assert tx.specs.ended_tasks(NOON, 10) == [early]
        assert tx.specs.ended_tasks(NOON + HOUR, 10) == [early, late]
        assert tx.specs.ended_tasks(NOON + HOUR, 1) == [early]
    with leader.writes() as tx:
        assert tx.specs.ended_tasks(NOON + HOUR, 10, lock=True) == [early, late]


def test_the_tables_of_several_supervisors_are_read_at_once(leader: Leader) -> None:
    """Goal: every table that a version has named, also of a terminated one."""
    first, second = read_spec(created()).spec, fills("elsewhere")
    with leader.writes() as tx:
        for who, versions in {"a": (first, second), "b": (first, None), "c": (second,)}.items():
            for each in versions:
                tx.specs.append(who, each, NOON, "")
    with leader.reads() as tx:
        assert tx.specs.tables_ever(["a", "b", "never"]) == {
            "a": frozenset({first.data_source, "elsewhere"}),
            "b": frozenset({first.data_source}),
        }
        assert tx.specs.tables_ever([]) == {}


def fills(table: str) -> SupervisorSpec:
    """A spec of another table."""
    here = read_spec(created()).spec
    return here.model_copy(
        update={"data_schema": here.data_schema.model_copy(update={"data_source": table})}
    )
