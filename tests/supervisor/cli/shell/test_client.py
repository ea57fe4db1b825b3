"""Addresses, exit codes, and answers that are not what they should be."""

import socket
from pathlib import Path

import pytest

from supervisor.cli.shell.problems import UNREACHABLE
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, overlord
from tests.tasks.runtime.test_java import certificate_and_key

BASE = "/druid/indexer/v1/supervisor"
NOT_LEADING = {
    "type": "/problems/not-the-leader",
    "title": "Another overlord leads",
    "status": 503,
    "detail": "another overlord leads",
}


def closed_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
    return port


def test_no_overlord_is_exit_code_3_and_says_how_to_start_one(tidegate: Tidegate) -> None:
    address = f"http://127.0.0.1:{closed_port()}"

    ended = tidegate("supervisor", "list", "--server", address)

    assert (ended.code, ended.out) == (3, "")
    assert address in ended.err
    assert "tidegate dev" in ended.err


def test_an_overlord_that_is_down_is_passed_over(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = f"http://127.0.0.1:{closed_port()}"
    monkeypatch.setenv("TIDEGATE_OVERLORDS", f"{down},{server.url}")
    server.on("GET", BASE, Reply([]))

    assert tidegate("supervisor", "list", "-o", "json").json() == []


def test_the_leader_is_asked_where_another_names_it(tidegate: Tidegate, server: Overlord) -> None:
    with overlord() as leader:
        server.on("POST", f"{BASE}/a/suspend", Reply(NOT_LEADING | {"leader": leader.url}, 503))
        leader.on("POST", f"{BASE}/a/suspend", Reply({}))

        assert tidegate("supervisor", "suspend", "a").code == 0
        assert [request.path for request in leader.requests] == [f"{BASE}/a/suspend"]


def test_a_redirect_of_a_write_is_followed_to_the_leader(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Source: D5: the follower has carried out nothing."""
    with overlord() as leader:
        problem = NOT_LEADING | {"leader": leader.url, "status": 307}
        server.on("POST", f"{BASE}/a/suspend", Reply(problem, 307))
        leader.on("POST", f"{BASE}/a/suspend", Reply({}))

        assert tidegate("supervisor", "suspend", "a").code == 0
        assert [request.path for request in leader.requests] == [f"{BASE}/a/suspend"]


def test_nobody_leading_is_exit_code_3(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", BASE, Reply(NOT_LEADING | {"leader": server.url}, 503))

    ended = tidegate("supervisor", "list")

    assert (ended.code, len(server.requests)) == (3, 1)
    assert "another overlord leads" in ended.err


def test_a_problem_of_the_overlord_is_exit_code_1(tidegate: Tidegate, server: Overlord) -> None:
    server.refuse(
        "GET", BASE, 503, type="/problems/metadata-busy", title="Busy", detail="it is busy"
    )

    ended = tidegate("supervisor", "list")

    assert (ended.code, ended.err) == (1, "error: Busy\nit is busy\n")


def test_a_certificate_that_nobody_vouches_for_is_told_with_what_to_set(
    tidegate: Tidegate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "both.pem"
    file.write_bytes(b"".join(certificate_and_key("localhost")))
    with overlord(file) as server:
        server.on("GET", BASE, Reply([]))
        monkeypatch.setenv("TIDEGATE_OVERLORDS", server.url)

        refused = tidegate("supervisor", "list")
        monkeypatch.setenv("TIDEGATE_TLS_CA", str(file))
        trusted = tidegate("supervisor", "list")

    assert refused.code == UNREACHABLE
    assert "TIDEGATE_TLS_CA" in refused.err
    assert trusted.code == 0, trusted.err


def test_another_server_at_the_address_is_told(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", BASE, Reply("<html>hello</html>", 200, "text/html"))

    ended = tidegate("supervisor", "list")

    assert ended.code == 1
    assert "is this an overlord?" in ended.err


def test_an_answer_of_another_form_is_told(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", BASE, Reply([{"id": 7}]))

    ended = tidegate("supervisor", "list")

    assert ended.code == 1
    assert "another form" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["supervisor", "status"],
        ["supervisor", "list", "-o", "xml"],
        ["supervisor", "list", "--server", "not an address"],
        ["supervisor", "init", "--kafka", "nohost", "--topic", "t"],
        ["dev", "--task-duration", "1 minute"],
        ["dev", "--port", "0"],
    ],
)
def test_wrong_usage_is_exit_code_2(
    tidegate: Tidegate, server: Overlord, arguments: list[str]
) -> None:
    ended = tidegate(*arguments)

    assert (ended.code, ended.out, server.requests) == (2, "", [])
    assert ended.err


def test_help_and_version_are_answers(tidegate: Tidegate) -> None:
    assert tidegate("--version").out.startswith("tidegate ")
    assert "supervisor" in tidegate("--help").out
    assert tidegate("supervisor", "--help").code == 0


def test_a_wrong_setting_is_one_line_and_its_fix(tidegate: Tidegate, tmp_path: Path) -> None:
    (tmp_path / "tidegate.toml").write_text('metadata_ulr = "sqlite:///x"\n')

    ended = tidegate("supervisor", "list")

    assert (ended.code, ended.err) == (
        1,
        "error: tidegate.toml: metadata_ulr is not a setting\nfix: did you mean metadata_url?\n",
    )


def test_what_nobody_foresaw_is_one_line(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr("supervisor.cli.supervisor.supervisors.connect", broken)

    ended = tidegate("supervisor", "list")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines() == [
        "error: RuntimeError: first line",
        "This was not foreseen. TIDEGATE_DEBUG=1 shows where it happened.",
    ]


def test_debug_shows_where_it_happened(tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("here")

    monkeypatch.setattr("supervisor.cli.supervisor.supervisors.connect", broken)
    monkeypatch.setenv("TIDEGATE_DEBUG", "1")

    with pytest.raises(RuntimeError, match="here"):
        tidegate("supervisor", "list")
