"""`tidegate supervisor list --terminated`: how supervisors ended."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply


def test_a_list_of_terminated_ones_says_when_by_whom_and_why(
    tidegate: Tidegate, server: Overlord
) -> None:
    rows = [
        {
            "id": f"clicks-{number}",
            "dataSource": "clicks",
            "terminatedAt": "2026-01-05T12:00:00Z",
            "terminatedBy": "ada",
            "reason": None if number else "moved",
            "version": 3,
        }
        for number in range(3)
    ]
    path = "/api/v1/supervisors/terminated"
    pages = [
        Reply({"supervisors": rows[:2], "matching": 3, "next": "behind-2"}),
        Reply({"supervisors": rows[2:], "matching": 3, "next": None}),
    ]
    server.on("GET", path, *pages)

    lines = tidegate("supervisor", "list", "--terminated").out.splitlines()

    assert lines[0].split() == ["ID", "TERMINATED", "WHO", "REASON", "VERSION"]
    assert lines[1].split() == ["clicks-0", "2026-01-05", "12:00:00", "ada", "moved", "3"]
    assert [line.split()[0] for line in lines[1:]] == ["clicks-0", "clicks-1", "clicks-2"]
    assert [request.path for request in server.requests] == [path, path]


def test_without_terminated_ones_the_list_says_so(tidegate: Tidegate, server: Overlord) -> None:
    nothing = Reply({"supervisors": [], "matching": 0, "next": None})
    server.on("GET", "/api/v1/supervisors/terminated", nothing)

    ended = tidegate("supervisor", "list", "--terminated")

    assert ended.out.split() == ["ID", "TERMINATED", "WHO", "REASON", "VERSION"]
    assert "No supervisor is terminated" in ended.err
