"""`tidegate whoami`."""

import json

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

ME = {
    "name": "ada",
    "kind": "token",
    "asked": True,
    "session": False,
    "grants": [{"role": "viewer", "tables": "web-*", "topics": "web.*"}],
    "permissions": {"read": ["web-*", "clicks"]},
    "until": "2026-03-01T12:00:00Z",
}


def test_it_names_the_caller_and_what_it_may_do(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/me", Reply(ME))

    ended = tidegate("whoami")

    assert ended.code == 0
    assert [line.split() for line in ended.out.splitlines()] == [
        ["PERMISSION", "TABLES"],
        ["read", "web-*,", "clicks"],
    ]
    sentence = "You are ada (token), until 2026-03-01T12:00:00+00:00. Granted: viewer on web-* from"
    assert sentence in ended.err


def test_where_nobody_is_asked_it_says_so(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/me", Reply(ME | {"asked": False, "name": "", "kind": None}))

    assert "asks nobody" in tidegate("whoami").err


def test_as_json_it_is_the_answer(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/me", Reply(ME))

    assert json.loads(tidegate("whoami", "-o", "json").out) == ME
