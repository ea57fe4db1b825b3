"""`tidegate audit`."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

ENTRY = {
    "at": "2026-03-01T12:00:00Z",
    "actor": "ada",
    "action": "suspend",
    "subject": "clicks",
    "detail": {"version": "2"},
}


def test_entries_are_shown_and_filters_are_asked_for(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/audit", Reply({"entries": [ENTRY], "next": "abc"}))

    ended = tidegate("audit", "--supervisor", "clicks", "--actor", "ada", "-n", "1")

    assert ended.code == 0
    assert ended.out.splitlines()[1].split() == [
        *("2026-03-01T12:00:00+00:00", "ada", "suspend", "clicks", "version:", "2"),
    ]
    assert "--cursor abc" in ended.err
    assert server.requests[-1].query == {"supervisor": ["clicks"], "actor": ["ada"], "limit": ["1"]}
