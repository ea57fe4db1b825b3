"""Principals and denied tries, alike on SQLite and on PostgreSQL."""

from dataclasses import replace

from supervisor.core.values.permissions import DeniedTry, Grant, Kind, Principal, Role
from supervisor.ports.access import DENIED_KEPT
from supervisor.ports.store import Store
from tests.conformance.stories import HOUR, NOON

GRANTS = (Grant(Role.VIEWER, "*"), Grant(Role.ADMIN, "web-*", "web.*"))
ALICE = Principal("alice", Kind.USER, "$argon2id$x", GRANTS, NOON)


def test_a_principal_is_kept_as_it_was_added(store: Store) -> None:
    rows = [ALICE, Principal("Bob", Kind.WORKER, "ab", (), NOON, NOON + HOUR, NOON - HOUR, 7)]
    with store.writing() as tx:
        assert [tx.access.add(row) for row in rows] == [True, True]
        assert not tx.access.add(replace(ALICE, secret="other"))
    with store.reading() as tx:
        assert tx.access.all() == [rows[1], rows[0]]
        assert tx.access.get("alice") == ALICE
        assert tx.access.get("Alice") is None


def test_a_change_is_refused_when_another_came_first(store: Store) -> None:
    second, other = replace(ALICE, version=2, revoked_at=NOON), replace(ALICE, version=2)
    with store.writing() as tx:
        tx.access.add(ALICE)
        assert tx.access.put(second)
        assert not tx.access.put(other)
        assert not tx.access.put(replace(ALICE, name="nobody", version=2))
        assert tx.access.get("alice") == second


def test_denied_tries_are_bounded_and_the_newest_stay(store: Store) -> None:
    tries = [
        DeniedTry(NOON, NOON + HOUR, number, "", "10.0.0.1", "GET /x", "why")
        for number in range(DENIED_KEPT + 5)
    ]
    with store.writing() as tx:
        tx.access.deny([])
        tx.access.deny(tries[:10])
        tx.access.deny(tries[10:])
    with store.reading() as tx:
        assert tx.access.denied(2) == [tries[-1], tries[-2]]
        kept = tx.access.denied(DENIED_KEPT + 5)
    assert [each.times for each in kept[-2:]] == [6, 5]
    assert len(kept) == DENIED_KEPT
