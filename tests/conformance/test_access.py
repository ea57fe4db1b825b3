"""Principals, sessions and denied tries, alike on SQLite and on PostgreSQL."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.values.permissions import DeniedTry, Grant, Kind, Principal, Role
from supervisor.core.values.sessions import Session
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


def _session(digest: str, *, used: int, principal: str = "alice") -> Session:
    """A session that was begun at NOON, and used so many seconds later."""
    return Session(digest, principal, NOON, NOON + timedelta(seconds=used))


def _digests(store: Store, *names: str) -> set[str]:
    with store.reading() as tx:
        return {name for name in names if tx.access.session(name) is not None}


def test_a_session_is_kept_used_and_ended(store: Store) -> None:
    with store.writing() as tx:
        tx.access.begin_session(_session("a", used=0), 10)
        tx.access.use_session("a", NOON + HOUR)
        tx.access.use_session("a", NOON)  # of an overlord whose clock is behind
        tx.access.use_session("b", NOON)
    with store.reading() as tx:
        assert tx.access.session("a") == Session("a", "alice", NOON, NOON + HOUR)
        assert tx.access.session("b") is None
    with store.writing() as tx:
        assert tx.access.end_session("a")
        assert not tx.access.end_session("a")
    assert _digests(store, "a") == set()


def test_sessions_of_one_principal_are_bounded_and_the_new_one_stays(store: Store) -> None:
    with store.writing() as tx:
        tx.access.begin_session(_session("other", used=0, principal="bob"), 2)
        for digest, used in (("a", 1), ("b", 3), ("c", 2), ("behind", 0)):
            tx.access.begin_session(_session(digest, used=used), 2)

    assert _digests(store, "a", "b", "c", "behind", "other") == {"b", "behind", "other"}


def test_ended_sessions_are_deleted_some_at_a_time(store: Store) -> None:
    with store.writing() as tx:
        for number in range(5):
            tx.access.begin_session(_session(f"{number}", used=number), 10)
        assert tx.access.delete_sessions(NOON, NOON, 10) == 0
        used = NOON + timedelta(seconds=3)
        assert [tx.access.delete_sessions(used, NOON, 2) for _ in range(3)] == [2, 1, 0]
    assert _digests(store, *"01234") == {"3", "4"}
    with store.writing() as tx:
        assert tx.access.delete_sessions(NOON, NOON + HOUR, 10) == 2
