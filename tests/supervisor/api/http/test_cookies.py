"""What the cookie of a session is good for: nothing alone, and nothing after its end.

Source: faults.md S20, S23, S25.
"""

from datetime import timedelta

import httpx
import pytest

from supervisor.api.http.console import HEADER
from supervisor.core.values.permissions import Role
from supervisor.core.values.sessions import IDLE
from supervisor.services.access.principals import fingerprint
from tests.supervisor.api.browser import (
    ALICE,
    COOKIE,
    CURRENT,
    LOGIN,
    ME,
    PASSWORD,
    Browser,
    alices,
    status,
)
from tests.supervisor.api.guarded import ACCESS, Guarded, bearer, grants_of
from tests.supervisor.api.world import SUPERVISORS, spec_document

MINUTE = timedelta(minutes=1)


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(guarded: Guarded) -> None:
    plain = Browser(guarded.world).ask("POST", LOGIN, ALICE).headers["set-cookie"]
    guarded.world.client.base_url = httpx.URL("https://localhost:8090")
    safe = Browser(guarded.world, origin="https://localhost:8090").ask("POST", LOGIN, ALICE)
    name, _, rest = safe.headers["set-cookie"].partition("=")

    assert {each.strip() for each in plain.split(";")[1:]} == {
        *("HttpOnly", "Path=/", "SameSite=strict"),
    }
    assert name == f"__Host-{COOKIE}"
    assert {each.strip() for each in rest.split(";")[1:]} == {
        *("HttpOnly", "Path=/", "SameSite=strict", "Secure"),
    }


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ME), ("GET", SUPERVISORS), ("POST", f"{SUPERVISORS}/suspendAll")]
)
def test_a_cookie_without_the_consoles_header_is_nothing(
    guarded: Guarded, method: str, path: str
) -> None:
    """Goal: what a browser adds to a request by itself lets nobody in.  Source: faults.md S20."""
    browser = alices(guarded)

    without = Browser(guarded.world, browser.secret, console=False)

    for value in ({}, {HEADER: "0"}, {HEADER: ""}, {HEADER: "1, 1"}):
        assert status(without.ask(method, path, **value)) == (401, "unauthenticated")
    assert browser.ask(method, path).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000"])
@pytest.mark.parametrize(("method", "path"), [("GET", ME), ("POST", f"{SUPERVISORS}/suspendAll")])
def test_another_site_gets_nothing_with_the_cookie(
    guarded: Guarded, origin: str, method: str, path: str
) -> None:
    browser = alices(guarded)

    answer = browser.ask(method, path, Origin=origin)
    foreign = browser.ask(method, path, **{"Sec-Fetch-Site": "cross-site"})

    assert status(answer) == status(foreign) == (403, "cross-origin")
    assert "set-cookie" not in answer.headers


def test_a_change_without_an_origin_is_refused(guarded: Guarded) -> None:
    secret = alices(guarded).secret

    nameless = Browser(guarded.world, secret, origin=None)

    assert status(nameless.ask("POST", f"{SUPERVISORS}/suspendAll")) == (403, "cross-origin")
    assert status(nameless.ask("DELETE", CURRENT)) == (403, "cross-origin")
    assert status(nameless.ask("POST", LOGIN, ALICE)) == (403, "cross-origin")


def test_a_401_to_the_console_opens_no_dialog_of_the_browser(guarded: Guarded) -> None:
    browser = Browser(guarded.world)

    for answer in (browser.ask("GET", ME), browser.ask("POST", LOGIN, {"token": "tdg_wrong"})):
        assert answer.status_code == 401
        assert "Basic" not in answer.headers["www-authenticate"]
    programs = guarded.world.client.get(ME).headers["www-authenticate"]
    assert "Basic" in programs


def test_a_cookie_that_was_stolen_is_nothing_after_the_logout(guarded: Guarded) -> None:
    browser, other = alices(guarded), alices(guarded)
    thief = Browser(guarded.world, browser.secret)
    assert thief.ask("GET", ME).status_code == 200

    ended = browser.ask("DELETE", CURRENT)

    assert ended.status_code == 204
    assert "Max-Age=0" in ended.headers["set-cookie"]
    assert status(thief.ask("GET", ME)) == (401, "unauthenticated")
    assert other.ask("GET", ME).status_code == 200, "a logout ends one session"
    actions = [
        row["action"] for row in other.ask("GET", "/api/v1/audit?actor=alice").json()["entries"]
    ]
    assert actions == ["session end", "session begin", "session begin"]


def test_a_login_takes_no_secret_that_was_planted(guarded: Guarded) -> None:
    """Goal: fixation: who knows a cookie before the login knows nothing after it."""
    planted = Browser(guarded.world, "planted-by-another-site-0123456789abcdefghi")

    after = planted.login(ALICE)

    assert after.secret != planted.secret
    assert status(planted.ask("GET", ME)) == (401, "unauthenticated")


def test_two_cookies_are_none(guarded: Guarded) -> None:
    """Goal: a cookie with a longer path, planted by a neighbour, takes nobody's place."""
    browser = alices(guarded)
    both = f"{COOKIE}={browser.secret}; other=1; {COOKIE}=planted"

    assert status(browser.ask("GET", ME, Cookie=both)) == (401, "unauthenticated")
    assert status(browser.ask("GET", ME, Cookie="x" * 20_000)) == (401, "unauthenticated")
    assert browser.ask("POST", LOGIN, ALICE, Cookie=both).status_code == 200


def test_secrets_are_guessed_as_seldom_as_passwords(guarded: Guarded) -> None:
    """Source: faults.md S23."""
    browser = alices(guarded)

    answers = [
        Browser(guarded.world, f"guess-{number}").ask("GET", ME).status_code for number in range(8)
    ]

    assert answers == [401] * ACCESS.lockout.failures_max + [429] * 3
    assert browser.ask("GET", ME).status_code == 200, "a right one is no guess"


def test_logins_are_guessed_as_seldom_as_headers(guarded: Guarded) -> None:
    """Goal: the two ways to try a password count as one."""
    browser = Browser(guarded.world)
    wrong = {"name": "alice", "password": "wrong-password"}

    answers = [browser.ask("POST", LOGIN, wrong).status_code for _ in range(6)]

    assert answers == [401] * 5 + [429]
    assert browser.ask("POST", LOGIN, ALICE).status_code == 429
    assert guarded.world.client.get(ME, auth=("alice", PASSWORD)).status_code == 429
    guarded.world.clock.advance(MINUTE)
    rows = alices(guarded).ask("GET", "/api/v1/audit/denied").json()
    assert ("alice", f"POST {LOGIN}", 5) in {(r["name"], r["what"], r["times"]) for r in rows}
    assert "wrong-password" not in str(rows)


def test_a_session_that_has_ended_locks_nobody_out(guarded: Guarded) -> None:
    """Goal: a page that was left open over the weekend asks on, and its user can log in."""
    browser = alices(guarded)
    guarded.world.clock.advance(IDLE)

    answers = {browser.ask("GET", ME).status_code for _ in range(100)}

    assert answers == {401}
    assert alices(guarded).ask("GET", ME).status_code == 200


def test_each_secret_opens_its_own_door_alone(guarded: Guarded) -> None:
    """Goal: no secret is good in the place of another, nor what the database has of it."""
    browser, token = alices(guarded), guarded.token("ci", *grants_of(Role.ADMIN, "*"))
    assert browser.secret is not None

    as_token = guarded.world.client.get(ME, headers=bearer(browser.secret))
    as_cookie = Browser(guarded.world, token).ask("GET", ME)
    as_stored = Browser(guarded.world, fingerprint(browser.secret)).ask("GET", ME)

    assert [each.status_code for each in (as_token, as_cookie, as_stored)] == [401] * 3
    assert browser.secret not in guarded.world.database.read_bytes().decode("latin-1")


def test_the_secret_is_in_no_log(guarded: Guarded, capfd: pytest.CaptureFixture[str]) -> None:
    browser = alices(guarded)
    browser.ask("POST", SUPERVISORS, spec_document())
    browser.ask("DELETE", CURRENT)

    output = "".join(capfd.readouterr())
    assert not [word for word in (browser.secret or "", PASSWORD) if word in output]
