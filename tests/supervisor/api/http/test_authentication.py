"""Who calls: by token or password, in equal time, not too often; and what is recorded of it.

Source: faults.md S20, S22, S23.
"""

import base64
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.api.http.proofs import PROOFS_AT_ONCE, PROOFS_WAITING_MAX
from supervisor.core.values.errors import PrincipalRefused
from supervisor.core.values.permissions import Grant, Kind, Role
from supervisor.core.values.throttle import Lockout, Rate
from supervisor.ports.store import Transaction
from supervisor.services.access.authentication import DENIED_KINDS_MAX
from supervisor.services.access.principals import fingerprint
from tests.supervisor.api.guarded import ACCESS, CALM, Guarded, a_guarded_world, bearer, grants_of
from tests.supervisor.api.world import SUPERVISORS, spec_document
from tests.supervisor.cli.overlord import Reply, overlord
from tests.waiting import HANGS_AFTER_S, wait_until

PASSWORD = "correct horse battery"
ADMIN = grants_of(Role.ADMIN, "*")
MINUTE = timedelta(minutes=1)


@pytest.fixture
def guarded(tmp_path: Path, migrated: Path) -> Iterator[Guarded]:
    """An overlord that asks who calls; alice is an administrator with a password."""
    with a_guarded_world(tmp_path, migrated) as guarded_world:
        guarded_world.principals.add_user("alice", PASSWORD, ADMIN, "test")
        guarded_world.world.clock.advance(CALM)
        yield guarded_world


def basic(name: str, password: str) -> dict[str, str]:
    """The header of a name and a password."""
    encoded = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"Authorization": f"Basic {encoded}"}


def ask(guarded: Guarded, headers: dict[str, str], path: str = SUPERVISORS) -> httpx.Response:
    """GET with these headers."""
    answer: httpx.Response = guarded.world.client.get(path, headers=headers)
    return answer


def test_a_password_and_a_token_are_each_taken(guarded: Guarded) -> None:
    token = guarded.token("ci", *ADMIN)
    assert ask(guarded, basic("alice", PASSWORD)).status_code == 200
    assert ask(guarded, bearer(token)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Digest x"},
        {"Authorization": "Basic %%%"},
        {"Authorization": "Basic " + base64.b64encode(b"alice").decode()},
        {"Authorization": "Basic " + base64.b64encode(b"\xff\xfe:x").decode()},
        {"Authorization": "Bearer " + "x" * 5_000},
        basic("alice", ""),
        basic("alice", PASSWORD + " "),
        basic("Alice", PASSWORD),
        basic("bob", PASSWORD),
        bearer("tdg_no-such-token"),
        bearer(PASSWORD),
    ],
)
@pytest.mark.parametrize("path", [SUPERVISORS, "/no-such-route", "/openapi.json"])
def test_whoever_does_not_prove_who_it_is_gets_nowhere(
    guarded: Guarded, headers: dict[str, str], path: str
) -> None:
    answer = ask(guarded, headers, path)
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert PASSWORD not in answer.text


def test_a_stored_secret_is_no_credential(guarded: Guarded) -> None:
    """Goal: whoever reads the database cannot call in anybody's name."""
    token = guarded.token("ci", *ADMIN)
    (alice,) = [each for each in guarded.principals.all() if each.name == "alice"]
    assert ask(guarded, bearer(fingerprint(token))).status_code == 401
    assert ask(guarded, bearer(alice.secret)).status_code == 401
    assert ask(guarded, basic("alice", alice.secret)).status_code == 401
    assert ask(guarded, basic("ci", token)).status_code == 401
    assert token not in guarded.world.database.read_bytes().decode("latin-1")


def test_a_token_ends_when_it_expires_and_a_revoked_one_within_seconds(guarded: Guarded) -> None:
    ends = guarded.world.clock.now() + MINUTE
    short = guarded.principals.add_token("short", ADMIN, "test", expires_at=ends)
    token = guarded.token("ci", *ADMIN)
    assert ask(guarded, bearer(short)).status_code == 200
    guarded.principals.revoke("ci", "test")
    guarded.world.clock.advance(CALM)
    assert ask(guarded, bearer(token)).status_code == 401
    guarded.world.clock.advance(MINUTE)
    assert ask(guarded, bearer(short)).status_code == 401


def test_a_password_that_was_proved_a_moment_ago_ends_with_its_principal(guarded: Guarded) -> None:
    """Goal: what is remembered of a proof does not outlive a revocation."""
    assert ask(guarded, basic("alice", PASSWORD)).status_code == 200
    guarded.principals.revoke("alice", "test")
    guarded.world.clock.advance(CALM)
    assert ask(guarded, basic("alice", PASSWORD)).status_code == 401


def test_new_grants_count_within_seconds(guarded: Guarded) -> None:
    token = guarded.token("ci", *grants_of(Role.VIEWER, "*"))
    assert guarded.ask("POST", SUPERVISORS, token, spec_document()).status_code == 403
    guarded.principals.grant("ci", grants_of(Role.OPERATOR, "*"), "test")
    guarded.world.clock.advance(CALM)
    assert guarded.ask("POST", SUPERVISORS, token, spec_document()).status_code == 200


def test_after_too_many_wrong_passwords_the_right_one_has_to_wait(guarded: Guarded) -> None:
    for _ in range(ACCESS.lockout.failures_max):
        assert ask(guarded, basic("alice", "wrong")).status_code == 401
    locked = ask(guarded, basic("alice", PASSWORD))
    assert (locked.status_code, locked.json()["type"]) == (429, "/problems/too-many-requests")
    assert int(locked.headers["retry-after"]) == 60
    token = guarded.token("ci", *ADMIN)
    assert ask(guarded, bearer(token)).status_code == 200, "a token is no guess"
    guarded.world.clock.advance(MINUTE)
    assert ask(guarded, basic("alice", PASSWORD)).status_code == 200


def test_an_address_that_tries_many_names_is_locked_as_well(guarded: Guarded) -> None:
    """Goal: one password tried with every name."""
    answers = [
        ask(guarded, basic(f"user{number}", "password1234")).status_code for number in range(60)
    ]
    assert answers == [401] * 50 + [429] * 10
    assert ask(guarded, basic("alice", PASSWORD)).status_code == 429


def test_a_flood_of_wrong_tokens_is_told_to_wait_and_right_ones_pass(guarded: Guarded) -> None:
    token = guarded.token("ci", *ADMIN)
    answers = [ask(guarded, bearer(f"tdg_{number}")).status_code for number in range(8)]
    assert answers == [401] * 5 + [429] * 3
    assert ask(guarded, bearer(token)).status_code == 200


def test_a_success_forgets_the_failures_before_it(guarded: Guarded) -> None:
    for _ in range(3):
        for _ in range(ACCESS.lockout.failures_max - 1):
            assert ask(guarded, basic("alice", "wrong")).status_code == 401
        guarded.world.clock.advance(2 * MINUTE)
        assert ask(guarded, basic("alice", PASSWORD)).status_code == 200


def test_whoever_asks_too_often_is_told_when_to_come_back(tmp_path: Path, migrated: Path) -> None:
    access = replace(ACCESS, rate=Rate(per_s=0.5, burst=3))
    with a_guarded_world(tmp_path, migrated, access) as guarded:
        token, other = guarded.token("ci", *ADMIN), guarded.token("other", *ADMIN)
        answers = [ask(guarded, bearer(token)) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[-1].headers["retry-after"] == "2"
        assert ask(guarded, bearer(other)).status_code == 200
        guarded.world.clock.advance(timedelta(seconds=2))
        assert ask(guarded, bearer(token)).status_code == 200


def test_a_worker_is_known_by_a_header_of_its_own(guarded: Guarded) -> None:
    """Goal: its token stands beside the task's, and is good for nothing else."""
    worker, user = guarded.token("w", kind=Kind.WORKER), guarded.token("ci", *ADMIN)
    agent = guarded.world.agent("w1")
    assert agent.post(agent.request()).status_code == 401
    guarded.world.client.headers[WORKERS_HEADER] = user
    assert agent.post(agent.request()).status_code == 403
    guarded.world.client.headers[WORKERS_HEADER] = worker
    assert agent.post(agent.request()).status_code == 200
    for path in (SUPERVISORS, "/no-such-route"):
        assert ask(guarded, bearer(worker), path).status_code == 403


def test_the_health_is_told_to_anybody(guarded: Guarded) -> None:
    answer = guarded.world.client.get("/status/health")
    assert (answer.status_code, answer.json()) == (200, True)
    assert ask(guarded, bearer("tdg_wrong"), "/status/health").status_code == 401


def test_the_log_names_who_was_proved_and_keeps_the_header_beside_it(guarded: Guarded) -> None:
    """Source: faults.md S22: the header is a comment."""
    headers = basic("alice", PASSWORD) | {"X-Druid-Author": "mallory\r\nforged"}
    posted = guarded.world.client.post(SUPERVISORS, json=spec_document(), headers=headers)
    assert posted.status_code == 200, posted.text
    (row,) = [
        each
        for each in ask(guarded, basic("alice", PASSWORD), "/api/v1/audit").json()["entries"]
        if each["action"] == "apply"
    ]
    assert row["actor"] == "alice"
    assert row["detail"]["comment"] == "malloryforged"
    assert row["detail"]["address"] == "testclient"
    with guarded.world.store.reading() as tx:
        newest = tx.specs.newest("clicks")
    assert newest is not None
    assert newest.author == "alice"


def test_denied_and_failed_tries_are_on_record_without_what_was_typed(guarded: Guarded) -> None:
    viewer = guarded.token("viewer", *grants_of(Role.VIEWER, "clicks"))
    admin = guarded.token("admin", *ADMIN)
    guarded.ask("POST", f"{SUPERVISORS}", viewer, spec_document())
    ask(guarded, basic("alice", "secret-guess"))
    ask(guarded, basic("secret-typed-as-name", "x"))
    for _ in range(3):
        ask(guarded, {})
    rows = ask(guarded, bearer(admin), "/api/v1/audit/denied").json()
    denied = {(row["name"], row["what"], row["times"]) for row in rows}
    assert denied == {
        ("viewer", f"POST {SUPERVISORS}", 1),
        ("alice", f"GET {SUPERVISORS}", 1),
        ("", f"GET {SUPERVISORS}", 1),
        ("", f"GET {SUPERVISORS}", 3),
    }
    assert "secret" not in str(rows)
    assert {row["address"] for row in rows} == {"testclient"}


def test_a_denied_try_that_is_being_written_is_shown(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: who looks while another thread writes the tries waits for it, and misses none."""
    admin = guarded.token("admin", *ADMIN)
    ask(guarded, {})
    store, begun, free = guarded.world.store, threading.Event(), threading.Event()
    writing = store.writing

    @contextmanager
    def slowly() -> Iterator[Transaction]:
        begun.set()
        assert free.wait(HANGS_AFTER_S)
        with writing() as tx:
            yield tx

    monkeypatch.setattr(store, "writing", slowly)
    with ThreadPoolExecutor(2) as threads:
        writer = threads.submit(ask, guarded, bearer(admin), "/api/v1/audit/denied")
        assert begun.wait(HANGS_AFTER_S)
        reader = threads.submit(ask, guarded, bearer(admin), "/api/v1/audit/denied")
        threading.Timer(0.5, free.set).start()
        rows = [each.result(HANGS_AFTER_S).json() for each in (writer, reader)]

    assert [[row["what"] for row in each] for each in rows] == [[f"GET {SUPERVISORS}"]] * 2


def test_a_flood_of_denied_tries_writes_few_rows(guarded: Guarded) -> None:
    """Goal: nobody fills the database by asking for different paths."""
    admin = guarded.token("admin", *ADMIN)
    for number in range(3 * DENIED_KINDS_MAX):
        ask(guarded, {}, f"/path/{number}")
    rows = ask(guarded, bearer(admin), "/api/v1/audit/denied?limit=1000").json()
    assert len(rows) == DENIED_KINDS_MAX + 1
    assert sum(row["times"] for row in rows) == 3 * DENIED_KINDS_MAX


def test_credentials_are_in_no_log(guarded: Guarded, capfd: pytest.CaptureFixture[str]) -> None:
    token = guarded.token("ci", *ADMIN)
    ask(guarded, bearer(token))
    ask(guarded, basic("alice", PASSWORD))
    ask(guarded, basic("alice", "wrong-password"))
    ask(guarded, bearer("tdg_wrong-token"))
    output = "".join(capfd.readouterr())
    assert not [word for word in (token, PASSWORD, "wrong-") if word in output]


@pytest.mark.parametrize(
    ("name", "password", "grants"),
    [
        ("a b", PASSWORD, ADMIN),
        ("alice", PASSWORD, ADMIN),
        ("bob", "short", ADMIN),
        ("bob", PASSWORD, (Grant(Role.VIEWER, "a b"),)),
    ],
)
def test_a_principal_that_cannot_be_is_refused(
    guarded: Guarded, name: str, password: str, grants: tuple[Grant, ...]
) -> None:
    with pytest.raises(PrincipalRefused):
        guarded.principals.add_user(name, password, grants, "test")


def test_a_name_is_used_once(guarded: Guarded) -> None:
    """Goal: the log's `alice` is one person for ever."""
    guarded.principals.revoke("alice", "test")
    with pytest.raises(PrincipalRefused, match="taken"):
        guarded.principals.add_user("alice", PASSWORD, ADMIN, "test")
    with pytest.raises(PrincipalRefused, match="revoked"):
        guarded.principals.grant("alice", ADMIN, "test")


def test_a_page_of_another_site_cannot_use_a_browsers_password(guarded: Guarded) -> None:
    """Source: faults.md S20: a browser adds basic credentials by itself."""
    headers = basic("alice", PASSWORD) | {"Origin": "https://evil.example"}
    posted = guarded.world.client.post(f"{SUPERVISORS}/clicks/suspend", headers=headers)
    assert (posted.status_code, posted.json()["type"]) == (403, "/problems/cross-origin")


def test_a_follower_passes_the_callers_credentials_on_to_the_leader(
    tmp_path: Path, migrated: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Goal: the leader asks who calls as well, and the follower tells nobody else."""
    with a_guarded_world(tmp_path, migrated, leads=False) as guarded, overlord() as leader:
        token = guarded.token("ci", *ADMIN)
        leader.on("GET", f"{SUPERVISORS}/clicks/status", Reply({"passed": "on"}))
        with guarded.world.store.writing() as tx:
            tx.lease.take(None, "two", leader.url)
        guarded.world.leadership.step()
        passed = ask(guarded, bearer(token), f"{SUPERVISORS}/clicks/status")
        refused = ask(guarded, bearer("tdg_wrong"), f"{SUPERVISORS}/clicks/status")
        assert refused.status_code == 401
        assert (passed.status_code, passed.json()) == (200, {"passed": "on"})
        assert [request.authorization for request in leader.requests] == [f"Bearer {token}"]
    assert token not in "".join(capfd.readouterr())


class SlowPasswords:
    """Passwords whose checking lasts until it is let go on, and that tells how many are checked."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self._lock = threading.Lock()
        self.at_once = self.most = self.checked = 0

    def hash(self, password: str) -> str:
        return f"hash of {password}"

    def verify(self, secret: str, password: str) -> bool:
        assert secret.startswith("hash of "), "anything else is refused at once, which can be seen"
        with self._lock:
            self.at_once += 1
            self.checked += 1
            self.most = max(self.most, self.at_once)
        assert self.go_on.wait(60)
        with self._lock:
            self.at_once -= 1
        return secret == f"hash of {password}"


def test_a_flood_of_passwords_takes_two_threads_and_the_rest_goes_on(
    tmp_path: Path, migrated: Path
) -> None:
    """Goal: who has a token is served while passwords are checked, and no queue grows."""
    passwords = SlowPasswords()
    lenient = replace(ACCESS, lockout=Lockout(failures_max=1_000, lasts_s=60))
    with a_guarded_world(tmp_path, migrated, lenient, passwords=passwords) as guarded:
        token = guarded.token("ci", *ADMIN)
        with ThreadPoolExecutor(40) as pool:
            calls = [pool.submit(ask, guarded, basic(f"u{n}", PASSWORD)) for n in range(40)]
            wait_until(lambda: sum(one.done() for one in calls) >= 40 - PROOFS_WAITING_MAX)
            assert ask(guarded, bearer(token)).status_code == 200
            assert passwords.at_once == PROOFS_AT_ONCE
            passwords.go_on.set()
            answers = [one.result().status_code for one in calls]
    assert answers.count(429) == 40 - PROOFS_WAITING_MAX
    assert answers.count(401) == PROOFS_WAITING_MAX
    assert passwords.most == PROOFS_AT_ONCE


def test_a_name_that_nobody_has_costs_as_much_as_one_that_somebody_has(
    tmp_path: Path, migrated: Path
) -> None:
    """Goal: the time of an answer does not tell who there is.  Source: faults.md S23."""
    passwords = SlowPasswords()
    passwords.go_on.set()
    with a_guarded_world(tmp_path, migrated, passwords=passwords) as guarded:
        guarded.principals.add_user("alice", PASSWORD, ADMIN, "test")
        guarded.principals.add_user("gone", PASSWORD, ADMIN, "test")
        guarded.principals.revoke("gone", "test")
        guarded.token("ci", *ADMIN)
        refusals = set()
        for number, name in enumerate(("alice", "gone", "nobody", "ci"), 1):
            answer = ask(guarded, basic(name, "wrong-password"))
            refusals.add((answer.status_code, answer.text))
            assert passwords.checked == number
        assert len(refusals) == 1
