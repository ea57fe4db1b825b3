"""Sessions of browsers: who gets one, what it may do, and when it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from supervisor.api.http.console import HEADER
from supervisor.chores.expiry import EndOfHistory
from supervisor.core.history.expiry import HistoryAges
from supervisor.core.values.permissions import Caller, Kind, Role
from supervisor.core.values.sessions import ENDED_KEPT, IDLE, LASTS, NOTED_EVERY, OF_ONE_MAX
from supervisor.ports.store import Transaction
from supervisor.services.access.principals import fingerprint
from supervisor.services.access.sessions import Sessions
from tests.supervisor.api.browser import (
    ALICE,
    COOKIE,
    CURRENT,
    LOGIN,
    ME,
    Browser,
    add_alice,
    alices,
    status,
)
from tests.supervisor.api.guarded import CALM, Guarded, a_guarded_world, bearer, grants_of
from tests.supervisor.api.world import SUPERVISORS, World, spec_document
from tests.supervisor.cli.overlord import Reply, overlord

MINUTE = timedelta(minutes=1)


def test_whoever_logs_in_may_do_what_it_may_and_is_on_record(guarded: Guarded) -> None:
    browser = alices(guarded)

    me = browser.ask("GET", ME).json()
    posted = browser.ask("POST", SUPERVISORS, spec_document())

    assert (me["name"], me["kind"], me["asked"], me["session"]) == ("alice", "user", True, True)
    assert posted.status_code == 200, posted.text
    log = browser.ask("GET", "/api/v1/audit?actor=alice").json()["entries"]
    assert [(row["action"], row["subject"]) for row in log] == [
        ("apply", "clicks"),
        ("session begin", "alice"),
    ]
    assert log[-1]["detail"] == {"address": "testclient"}


def test_a_token_logs_in_as_well_and_its_end_is_the_sessions(guarded: Guarded) -> None:
    ends = guarded.world.clock.now() + timedelta(hours=1)
    token = guarded.principals.add_token("ci", grants_of(Role.VIEWER), "test", expires_at=ends)
    guarded.world.clock.advance(CALM)

    browser = Browser(guarded.world).login({"token": token})

    assert datetime.fromisoformat(browser.ask("GET", ME).json()["until"]) == ends
    guarded.world.clock.advance(timedelta(hours=1))
    assert status(browser.ask("GET", ME)) == (401, "unauthenticated")


def test_a_session_ends_with_its_principal(guarded: Guarded) -> None:
    browser = alices(guarded)
    assert browser.ask("GET", ME).status_code == 200

    guarded.principals.revoke("alice", "test")
    guarded.world.clock.advance(CALM)

    assert status(browser.ask("GET", ME)) == (401, "unauthenticated")


def test_new_grants_hold_in_a_session_that_runs(guarded: Guarded) -> None:
    browser = alices(guarded)
    assert browser.ask("GET", "/api/v1/audit").status_code == 200

    guarded.principals.grant("alice", grants_of(Role.VIEWER), "test")
    guarded.world.clock.advance(CALM)

    assert status(browser.ask("GET", "/api/v1/audit")) == (403, "not-allowed")
    assert browser.ask("GET", ME).json()["permissions"] == {"read": ["clicks"]}


def test_a_session_that_is_used_goes_on_and_an_idle_one_ends(guarded: Guarded) -> None:
    used, idle = alices(guarded), alices(guarded)

    for _ in range(3):
        guarded.world.clock.advance(IDLE - MINUTE)
        assert used.ask("GET", ME).status_code == 200

    assert status(idle.ask("GET", ME)) == (401, "unauthenticated")


def test_a_session_ends_a_week_after_its_login_whoever_uses_it(guarded: Guarded) -> None:
    browser, step = alices(guarded), IDLE / 2

    for _ in range(LASTS // step - 1):
        guarded.world.clock.advance(step)
        assert browser.ask("GET", ME).status_code == 200

    guarded.world.clock.advance(step)
    assert status(browser.ask("GET", ME)) == (401, "unauthenticated")


def test_a_page_that_asks_each_second_writes_its_session_now_and_then(guarded: Guarded) -> None:
    browser = alices(guarded)
    written = []
    for _ in range(20):
        guarded.world.clock.advance(NOTED_EVERY / 5)
        assert browser.ask("GET", ME).status_code == 200
        with guarded.world.store.reading() as tx:
            found = tx.access.session(fingerprint(browser.secret or ""))
        assert found is not None
        written.append(found.used_at)

    assert len(set(written)) == 4 + 1


def test_a_new_login_ends_the_session_that_the_browser_had(guarded: Guarded) -> None:
    before = alices(guarded)

    after = before.login(ALICE)

    assert status(before.ask("GET", ME)) == (401, "unauthenticated")
    assert after.ask("GET", ME).status_code == 200


def test_a_worker_has_no_session(guarded: Guarded) -> None:
    worker = guarded.token("w", kind=Kind.WORKER)

    assert status(Browser(guarded.world).ask("POST", LOGIN, {"token": worker})) == (
        *(403, "not-allowed"),
    )


@pytest.mark.parametrize(
    "body",
    [{}, {"name": "alice"}, {"password": "x"}, {"token": ""}, ALICE | {"token": "x"}, {"a": 1}, []],
)
def test_a_login_that_is_none_is_named(guarded: Guarded, body: object) -> None:
    answer = Browser(guarded.world).ask("POST", LOGIN, body)

    assert status(answer) == (400, "invalid-request")
    assert answer.json()["errors"][0]["hint"]


def test_a_program_has_no_session_to_begin_or_end(guarded: Guarded) -> None:
    token = guarded.token("ci", *grants_of(Role.VIEWER))
    program = Browser(guarded.world, console=False)

    begun = program.ask("POST", LOGIN, {"token": token})
    ended = program.ask("DELETE", CURRENT, **bearer(token))

    assert status(begun) == (400, "invalid-request")
    assert begun.json()["errors"][0]["pointer"] == f"/header/{HEADER}"
    assert status(ended) == (404, "session-not-found")


def test_a_logout_that_comes_twice_is_a_logout(guarded: Guarded) -> None:
    """Goal: another overlord has ended the session a moment ago, and this one still knows it."""
    browser, world = alices(guarded), guarded.world
    assert browser.ask("GET", ME).status_code == 200
    with world.store.writing() as tx:
        assert tx.access.end_session(fingerprint(browser.secret or ""))

    again = browser.ask("DELETE", CURRENT)

    assert again.status_code == 204
    assert "Max-Age=0" in again.headers["set-cookie"]
    assert status(browser.ask("GET", ME)) == (401, "unauthenticated")


def test_a_logout_counts_at_once_beside_a_request_that_looks_its_session_up(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: what was read before the logout is not remembered after it."""
    world = guarded.world
    sessions = Sessions(world.store, world.clock)
    secret, session = sessions.begin(Caller("alice", Kind.USER))
    reading = world.store.reading

    @contextmanager
    def overtaken() -> Iterator[Transaction]:
        with reading() as tx:
            yield tx
        assert sessions.end(Caller("alice", Kind.USER, session=session.digest))

    monkeypatch.setattr(world.store, "reading", overtaken)
    assert sessions.find(secret) == session
    monkeypatch.setattr(world.store, "reading", reading)

    assert sessions.find(secret) is None


def test_where_nobody_is_asked_there_is_no_session(world: World) -> None:
    browser = Browser(world)

    assert browser.ask("GET", ME).json()["asked"] is False
    for answer in (browser.ask("POST", LOGIN, ALICE), browser.ask("DELETE", CURRENT)):
        assert status(answer) == (400, "not-offered")


def test_a_login_is_no_action_of_the_leader(tmp_path: Path, migrated: Path) -> None:
    """Goal: the console of a follower lets people in, and its reads reach the leader as theirs."""
    with a_guarded_world(tmp_path, migrated, leads=False) as guarded, overlord() as leader:
        add_alice(guarded)
        leader.on("GET", f"{SUPERVISORS}/clicks/status", Reply({"passed": "on"}))
        with guarded.world.store.writing() as tx:
            tx.lease.take(None, "two", leader.url)
        guarded.world.leadership.step()

        browser = alices(guarded)
        others = f"a=b; {COOKIE}={browser.secret}"
        passed = browser.ask("GET", f"{SUPERVISORS}/clicks/status", Cookie=others)
        ended = browser.ask("DELETE", CURRENT, **{"Idempotency-Key": "one"})

    assert (passed.status_code, passed.json()) == (200, {"passed": "on"})
    (request,) = leader.requests
    assert request.headers["cookie"] == f"{COOKIE}={browser.secret}"
    assert request.headers[HEADER.lower()] == "1"
    assert request.headers["origin"] == leader.url
    assert ended.status_code == 204


def test_cookies_do_not_matter_where_something_else_counts(
    tmp_path: Path, migrated: Path, follower: World
) -> None:
    """Goal: a follower takes no session of a cookie that it has not asked for."""
    path, cookies = f"{SUPERVISORS}/clicks/status", f"{COOKIE}=old; {COOKIE}=planted"
    other = tmp_path / "other"
    other.mkdir()
    with overlord() as leader, a_guarded_world(other, migrated, leads=False) as guarded:
        leader.on("GET", path, Reply({"passed": "on"}))
        for world in (follower, guarded.world):
            with world.store.writing() as tx:
                tx.lease.take(None, "two", leader.url)
            world.leadership.step()
        token = guarded.token("ci", *grants_of(Role.ADMIN, "*"))

        nobodys = Browser(follower).ask("GET", path, Cookie=cookies)
        programs = Browser(guarded.world).ask("GET", path, Cookie=cookies, **bearer(token))

    assert nobodys.status_code == programs.status_code == 200
    for request in leader.requests:
        assert "cookie" not in request.headers
        assert (request.headers[HEADER.lower()], request.headers["origin"]) == ("1", leader.url)
    assert leader.requests[-1].authorization == f"Bearer {token}"


def test_sessions_of_one_principal_are_bounded(guarded: Guarded) -> None:
    first, world = alices(guarded), guarded.world
    elsewhere = Sessions(world.store, world.clock)
    world.clock.advance(CALM)
    for _ in range(OF_ONE_MAX - 1):
        elsewhere.begin(Caller("alice", Kind.USER))
    world.clock.advance(CALM)
    assert first.ask("GET", ME).status_code == 200

    last = alices(guarded)

    world.clock.advance(CALM)
    assert status(first.ask("GET", ME)) == (401, "unauthenticated")
    assert last.ask("GET", ME).status_code == 200


def test_ended_sessions_are_deleted_by_a_duty(guarded: Guarded) -> None:
    world, ended = guarded.world, alices(guarded)
    for _ in range((IDLE + ENDED_KEPT) // IDLE + 1):
        world.clock.advance(IDLE)
        world.leadership.step()
    live = alices(guarded)

    chore = EndOfHistory(
        world.store, world.clock, world.leadership.term, HistoryAges(10 * LASTS, 10 * LASTS)
    )

    assert chore.run_once() == 1
    with world.store.reading() as tx:
        kept = [tx.access.session(fingerprint(each.secret or "")) for each in (ended, live)]
    assert [each is not None for each in kept] == [False, True]
