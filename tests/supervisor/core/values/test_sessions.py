"""How long a login counts, and what its caller may do where."""

from datetime import timedelta

import pytest

from supervisor.core.values.permissions import Grant, Permission, Role, permitted
from supervisor.core.values.sessions import IDLE, LASTS, NOTED_EVERY, Session
from tests.conformance.stories import NOON

TICK = timedelta(seconds=1)


def session(unused_for: timedelta, age: timedelta) -> Session:
    """A session as it is at NOON."""
    return Session("digest", "alice", NOON - age, NOON - unused_for)


@pytest.mark.parametrize(
    ("unused_for", "age", "live"),
    [
        (timedelta(0), timedelta(0), True),
        (IDLE - TICK, IDLE - TICK, True),
        (IDLE, IDLE, False),
        (timedelta(0), LASTS - TICK, True),
        (timedelta(0), LASTS, False),
        (-TICK, timedelta(0), True),
    ],
    ids=["new", "nearly idle", "idle", "nearly old", "old", "noted by a clock that is ahead"],
)
def test_a_session_ends_when_it_is_idle_or_old(
    unused_for: timedelta, age: timedelta, *, live: bool
) -> None:
    kept = session(unused_for, age)

    assert kept.live(NOON) is live
    assert (kept.until > NOON) is live


def test_its_use_is_noted_now_and_then() -> None:
    assert not session(NOTED_EVERY - TICK, LASTS - TICK).is_due(NOON)
    assert session(NOTED_EVERY, LASTS - TICK).is_due(NOON)


def test_permissions_are_named_with_the_tables_on_which_grants_allow_them() -> None:
    grants = (
        Grant(Role.VIEWER, "web-*"),
        Grant(Role.OPERATOR, "orders"),
        Grant(Role.OPERATOR, "clicks", "web.*"),
    )

    tables = permitted(grants)

    assert tables[Permission.READ] == ("clicks", "orders", "web-*")
    assert tables[Permission.APPLY] == ("clicks", "orders")
    assert Permission.RESET not in tables
    assert permitted((*grants, Grant(Role.ADMIN, "*")))[Permission.READ] == ("*",)
    assert permitted(()) == {}
