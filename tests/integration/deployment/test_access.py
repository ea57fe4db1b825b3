"""A real overlord that asks who calls, over TLS: started, called, and told of changes meanwhile.

Source: faults.md S18, S23, S24.

Slow: an overlord starts for each way to ask who calls.
"""

import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import trustme

from supervisor.dev.ports import free_port
from tasks.runtime.http_guard import HEAD_S
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = [pytest.mark.process, pytest.mark.long]

SUPERVISORS = "/druid/indexer/v1/supervisor"
PASSWORD = "correct horse battery"
STARTS_WITHIN_S = HANGS_AFTER_S
ANYWHERE = "0.0.0.0"  # noqa: S104 -- nothing listens there: the start is refused


@dataclass(frozen=True)
class Site:
    """A folder, an environment and a port for one overlord."""

    folder: Path
    environment: dict[str, str]
    port: int

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"https://localhost:{self.port}"

    @property
    def ca(self) -> Path:
        """The authority that signed its certificate."""
        return self.folder / "ca.pem"

    def tidegate(
        self, *arguments: str, typed: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "supervisor.cli.main", *arguments],
            input=typed,
            env=self.environment | environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def trusting(self) -> httpx.Client:
        """A client that trusts its authority."""
        context = ssl.create_default_context(cafile=str(self.ca))
        return httpx.Client(base_url=self.url, verify=context, trust_env=False, timeout=30)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Everything but a principal; argon2 has its smallest parameters."""
    folder = tmp_path_factory.mktemp("site")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    leaf = authority.issue_cert("localhost", "127.0.0.1")
    leaf.private_key_pem.write_to_path(str(folder / "key.pem"))
    for number, part in enumerate(leaf.cert_chain_pems):
        part.write_to_path(str(folder / "cert.pem"), append=number > 0)
    port = free_port()
    ours = {name: value for name, value in os.environ.items() if "TIDEGATE" not in name}
    ours |= {
        "TIDEGATE_AUTH": "required",
        "TIDEGATE_KAFKA_ALLOW": "localhost",
        "TIDEGATE_DATA_DIR": str(folder / "data"),
        "TIDEGATE_PORT": str(port),
        "TIDEGATE_TLS_CERT": "cert.pem",
        "TIDEGATE_TLS_KEY": "key.pem",
        "TIDEGATE_ADVERTISED_URL": f"https://localhost:{port}",
        "TIDEGATE_OVERLORDS": f"https://localhost:{port}",
        "TIDEGATE_PASSWORD_MEMORY": "8",
        "TIDEGATE_PASSWORD_PASSES": "1",
        "NO_COLOR": "1",
    }
    return Site(folder, ours, port)


@pytest.fixture(scope="module")
def refused(site: Site) -> subprocess.CompletedProcess[str]:
    """A start before there is an administrator."""
    beyond = {"TIDEGATE_AUTH": "auto", "TIDEGATE_HOST": ANYWHERE}
    return site.tidegate("overlord", TIDEGATE_KAFKA_ALLOW="localhost", **beyond)


@pytest.fixture(scope="module")
def admin(site: Site, refused: subprocess.CompletedProcess[str]) -> str:
    """The token of the first administrator, made without a server."""
    assert refused.returncode
    created = site.tidegate("access", "token", "create", "admin", "--role", "admin", "--on", "*")
    assert created.returncode == 0, created.stderr
    return created.stdout.strip()


@pytest.fixture(scope="module")
def running(site: Site, admin: str) -> Iterator[Site]:
    """The overlord, which has answered once."""
    assert admin
    argv = [sys.executable, "-m", "supervisor.cli.main", "overlord"]
    with (site.folder / "overlord.log").open("wb") as log:
        process = subprocess.Popen(argv, env=site.environment, cwd=site.folder, stderr=log)
    try:
        wait_until(lambda: _leads(site, admin), within_s=STARTS_WITHIN_S)
        yield site
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def _leads(site: Site, token: str) -> bool:
    try:
        with site.trusting() as client:
            path = "/druid/indexer/v1/isLeader"
            return client.get(path, headers=_bearer(token)).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_beyond_loopback_it_does_not_start_without_an_administrator(
    refused: subprocess.CompletedProcess[str],
) -> None:
    """Source: faults.md S24."""
    assert refused.returncode == 1
    assert "TIDEGATE_HOST=0.0.0.0" in refused.stderr
    assert "tidegate access token create admin --role admin --on '*'" in refused.stderr


def test_over_tls_it_answers_who_is_known_and_says_to_stay_with_it(
    running: Site, admin: str
) -> None:
    with running.trusting() as client:
        answer = client.get(SUPERVISORS, headers=_bearer(admin))
        nobody = client.get(SUPERVISORS)
        health = client.get("/status/health")
    assert (answer.status_code, answer.json()) == (200, [])
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    assert nobody.status_code == 401
    assert health.json() is True


def test_without_tls_nothing_is_told(running: Site, admin: str) -> None:
    with (
        httpx.Client(trust_env=False) as client,
        pytest.raises(httpx.TransportError),
    ):
        client.get(f"http://localhost:{running.port}{SUPERVISORS}", headers=_bearer(admin))


def test_the_command_line_trusts_the_authority_it_is_told_and_no_other(
    running: Site, admin: str
) -> None:
    file = running.folder / "admin.token"
    file.write_text(f"{admin}\n")
    trusting = {"TIDEGATE_TLS_CA": str(running.ca)}
    by_file = running.tidegate("supervisor", "list", TIDEGATE_TOKEN_FILE=str(file), **trusting)
    by_variable = running.tidegate("supervisor", "list", TIDEGATE_TOKEN=admin, **trusting)
    untrusted = running.tidegate("supervisor", "list", TIDEGATE_TOKEN=admin)
    unnamed = running.tidegate("supervisor", "list", **trusting)
    assert (by_file.returncode, by_variable.returncode) == (0, 0), by_file.stderr
    assert untrusted.returncode == 3
    assert "certificate" in untrusted.stderr.lower()
    assert unnamed.returncode == 1
    assert "TIDEGATE_TOKEN_FILE" in unnamed.stderr
    assert admin not in untrusted.stderr + unnamed.stderr


def test_a_user_made_by_the_command_line_calls_with_a_password(running: Site) -> None:
    added = running.tidegate(
        "access", "user", "add", "alice", "--role", "viewer", "--on", "*", typed=f"{PASSWORD}\n"
    )
    assert added.returncode == 0, added.stderr
    (running.folder / "password").write_text(PASSWORD)
    given = {"TIDEGATE_USER": "alice", "TIDEGATE_PASSWORD_FILE": "password"}

    def listed() -> bool:
        trusted = running.tidegate("supervisor", "list", TIDEGATE_TLS_CA=str(running.ca), **given)
        return trusted.returncode == 0

    wait_until(listed)


def test_a_revoked_token_is_refused_within_seconds(running: Site) -> None:
    """Goal: a running overlord hears of it, and nobody has to start it anew."""
    created = running.tidegate(
        "access", "token", "create", "short", "--role", "viewer", "--on", "*"
    )
    headers = _bearer(created.stdout.strip())
    with running.trusting() as client:

        def answered(status: int) -> bool:
            return client.get(SUPERVISORS, headers=headers).status_code == status

        wait_until(lambda: answered(200), within_s=10)
        revoked = running.tidegate("access", "revoke", "short", "--yes")
        assert revoked.returncode == 0, revoked.stderr
        wait_until(lambda: answered(401), within_s=10)


def test_no_secret_is_in_the_database_the_log_or_a_listing(running: Site, admin: str) -> None:
    listed = running.tidegate("access", "list", "-o", "json")
    files = [
        p
        for p in running.folder.rglob("*")
        if p.is_file() and p.name.startswith(("metadata", "overlord.log"))
    ]
    assert len(files) >= 2
    assert admin not in listed.stdout
    for file in files:
        content = file.read_bytes()
        assert admin.encode() not in content, file
        assert PASSWORD.encode() not in content, file


def test_a_head_that_never_ends_costs_a_connection_for_seconds_only(running: Site) -> None:
    """Source: faults.md S18, slowloris; others are answered meanwhile."""
    context = ssl.create_default_context(cafile=str(running.ca))
    slow = []
    for _ in range(20):
        plain = socket.create_connection(("localhost", running.port), timeout=HEAD_S * 6)
        one = context.wrap_socket(plain, server_hostname="localhost")
        one.sendall(b"GET /status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        slow.append(one)
    with running.trusting() as client:
        assert client.get("/status/health").status_code == 200
    for one in slow:
        with one:
            assert one.recv(1) == b"", "it is closed, and nothing was answered"


def test_a_forwarded_address_is_not_believed(running: Site, admin: str) -> None:
    """Goal: nobody gets around a lockout by naming other addresses."""
    with running.trusting() as client:
        client.get("/forwarded", headers={"X-Forwarded-For": "203.0.113.9"})
        rows = client.get("/api/v1/audit/denied", headers=_bearer(admin)).json()
    (row,) = [each for each in rows if each["what"] == "GET /forwarded"]
    assert row["address"] in {"127.0.0.1", "::1"}
