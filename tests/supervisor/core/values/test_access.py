"""Who may do what: nobody anything, unless a grant says so."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.model.rows import AuditEntry
from supervisor.core.values.permissions import (
    ANYONE,
    EVERYTHING,
    PERMISSIONS,
    UNKNOWN,
    Actor,
    Caller,
    Grant,
    Kind,
    Permission,
    Principal,
    Role,
    allowed,
    pattern_problem,
    principal_name_problem,
)
from tasks.contract.patterns import matches

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
UNGRANTED = {Permission.OPEN, Permission.SIGNED_IN, Permission.WORK}
_names = st.text("ab.", min_size=1, max_size=6)
_patterns = st.text("ab.*", min_size=1, max_size=6)
_grants = st.lists(st.builds(Grant, st.sampled_from(Role), _patterns, _patterns), max_size=3)
_permissions = st.sampled_from([each for each in Permission if each not in UNGRANTED])


@given(_permissions, st.none() | _names)
def test_without_a_grant_nothing_is_allowed(permission: Permission, table: str | None) -> None:
    assert not allowed((), permission, table)
    assert not UNKNOWN.may(permission, table)


@given(_grants, _grants, _permissions, st.none() | _names)
def test_another_grant_never_takes_anything_away(
    grants: list[Grant], more: list[Grant], permission: Permission, table: str | None
) -> None:
    if allowed(grants, permission, table):
        assert allowed([*more, *grants], permission, table)


@given(_grants, _permissions, _names)
def test_what_is_allowed_has_one_grant_that_allows_it(
    grants: list[Grant], permission: Permission, table: str
) -> None:
    """Goal: the role of one grant is never combined with the tables of another."""
    single = any(
        permission in PERMISSIONS[g.role] and (g.tables == EVERYTHING or matches(g.tables, table))
        for g in grants
    )
    assert allowed(grants, permission, table) == single


@given(_grants, _permissions)
def test_what_is_no_single_tables_needs_a_grant_on_everything(
    grants: list[Grant], permission: Permission
) -> None:
    everywhere = [grant for grant in grants if grant.tables == EVERYTHING]
    assert allowed(grants, permission, None) == allowed(everywhere, permission, None)


def test_each_role_has_what_the_one_before_has() -> None:
    viewer, operator, admin = (PERMISSIONS[role] for role in Role)
    assert viewer == {Permission.READ}
    assert viewer < operator < admin
    assert admin == set(Permission) - UNGRANTED
    assert not operator & {Permission.TERMINATE, Permission.RESET, Permission.AUDIT}


@given(_grants, st.sampled_from(Permission), st.none() | _names)
def test_a_worker_does_a_workers_work_and_nothing_else(
    grants: list[Grant], permission: Permission, table: str | None
) -> None:
    worker = Caller("w", Kind.WORKER, tuple(grants))
    expected = permission in {Permission.WORK, Permission.OPEN}
    assert worker.may(permission, table) == expected
    if not expected:
        assert not worker.may_somewhere(permission)


@given(_grants, st.sampled_from([Kind.USER, Kind.TOKEN]))
def test_nobody_else_does_a_workers_work(grants: list[Grant], kind: Kind) -> None:
    """Goal: an administrator's token in the wrong place hands out no task's token."""
    assert not Caller("a", kind, (*grants, Grant(Role.ADMIN, EVERYTHING))).may(
        Permission.WORK, None
    )


@given(st.sampled_from(Permission), st.none() | _names)
def test_where_nobody_is_asked_everything_is_allowed(
    permission: Permission, table: str | None
) -> None:
    assert ANYONE.may(permission, table)


def test_a_grant_on_a_table_covers_the_table_of_its_errors() -> None:
    grants = (Grant(Role.VIEWER, "clicks"),)
    assert allowed(grants, Permission.READ, "clicks__errors")
    assert not allowed(grants, Permission.READ, "clicks2")


def test_a_principal_ends_when_it_expires_or_is_revoked() -> None:
    row = Principal("a", Kind.TOKEN, "x", (Grant(Role.ADMIN, "*"),), NOON)
    ends = Principal("a", Kind.TOKEN, "x", row.grants, NOON, expires_at=NOON + timedelta(hours=1))
    revoked = Principal("a", Kind.TOKEN, "x", row.grants, NOON, revoked_at=NOON)
    assert row.administers(NOON)
    assert ends.administers(NOON + timedelta(minutes=59))
    assert not ends.live(NOON + timedelta(hours=1))
    assert not revoked.administers(NOON)
    assert not Principal("a", Kind.TOKEN, "x", (Grant(Role.ADMIN, "a*"),), NOON).administers(NOON)


def test_names_and_patterns_are_of_few_signs() -> None:
    for name in ("alice", "a.b@example.org", "ci-1"):
        assert principal_name_problem(name) is None
    for name in ("", "a b", "a\n", "-a", "a:b", "x" * 101, "ä"):
        assert principal_name_problem(name) is not None
    for pattern in ("*", "clicks", "web-*", "*__errors"):
        assert pattern_problem(pattern) is None
    for pattern in ("", "a b", "[a]", "a\n", "x" * 129):
        assert pattern_problem(pattern) is not None


def test_what_goes_beside_an_actor_is_in_the_detail_and_never_wins() -> None:
    """Source: faults.md S22."""
    caller = Caller("alice", Kind.USER, address="10.0.0.9")
    actor = Actor.of(caller, "bob")
    entry = AuditEntry(NOON, actor, "apply", "clicks", {"version": "2"})
    assert (entry.actor, type(entry.actor)) == ("alice", str)
    assert entry.detail == {"comment": "bob", "address": "10.0.0.9", "version": "2"}
    forged = AuditEntry(NOON, Actor.of(caller, ""), "apply", "clicks", {"address": "told"})
    assert forged.detail == {"address": "told"}


@given(_grants, _names, st.none() | _names)
def test_one_grant_allows_both_the_table_and_the_topic_of_a_spec(
    grants: list[Grant], table: str, topic: str | None
) -> None:
    """Goal: the tables of one grant are never combined with the topics of another."""
    single = any(
        g.role is not Role.VIEWER
        and matches(g.tables, table)
        and (g.topics == EVERYTHING or (topic is not None and matches(g.topics, topic)))
        for g in grants
    )
    assert Caller("a", Kind.USER, tuple(grants)).may_apply(table, topic) == single
    assert not Caller("a", Kind.WORKER, tuple(grants)).may_apply(table, topic)
