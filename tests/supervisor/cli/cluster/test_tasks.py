"""`tidegate task get|stop|logs` and `tidegate worker list|disable|enable`."""

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, Request

ID = "index_kafka_clicks_0123456789abcde_abcdefgh"
BASE = "/druid/indexer/v1"
ROW = {
    "id": ID,
    "createdTime": "2026-11-21T03:15:33.634Z",
    "statusCode": "RUNNING",
    "duration": -1,
    "location": {"host": "127.0.0.1", "port": 8091, "tlsPort": -1},
    "dataSource": "clicks",
    "errorMsg": None,
    "supervisorId": "clicks",
    "generationId": "clicks:3",
    "replica": 0,
    "attempt": 2,
    "workerId": "w1",
    "reason": "",
}
TOTALS = {"processed": 1004, "unparseable": 3}
REASONS = {"not-json": 2, "empty": 1}
LINES = [f"2026-11-21T03:16:{n:02d}Z INFO a batch is journaled batch={n}\n" for n in range(30)]


def _payload(stats: object) -> dict[str, object]:
    return {"ingestionStatsAndErrors": {"payload": {"rowStats": stats}}}


def _log_of(server: Overlord, states: list[str], lines: list[list[str]]) -> None:
    """Serve a log that has grown by some lines at each look, 500 bytes at most at once."""
    grown = [""]

    def reply(request: Request) -> Reply:
        if request.path.endswith("/status"):
            state = states.pop(0) if len(states) > 1 else states[0]
            grown[0] += "".join(lines.pop(0)) if lines else ""
            return Reply({"task": ID, "status": ROW | {"statusCode": state}})
        offset = int(request.query.get("offset", ["0"])[0])
        start = max(0, len(grown[0]) + offset) if offset < 0 else offset
        headers = {"X-Tidegate-Log-Start": str(start), "X-Tidegate-Log-Size": str(len(grown[0]))}
        return Reply(grown[0][start : start + 500], 200, "text/plain", headers)

    if "RUNNING" not in states:
        grown[0] = "".join(lines.pop(0))
    server.ask = reply


@pytest.mark.parametrize(
    "stats",
    [
        {"totals": {"buildSegments": TOTALS, "rejected": REASONS}},
        {"buildSegments": TOTALS, "rejected": REASONS},
        {"buildSegments": TOTALS | REASONS},  # of an overlord before reasons were told
    ],
)
def test_a_task_is_shown_with_what_it_has_counted(
    tidegate: Tidegate, server: Overlord, stats: object
) -> None:
    server.on("GET", f"{BASE}/task/{ID}/status", Reply({"task": ID, "status": ROW}))
    server.on("GET", f"{BASE}/task/{ID}/reports", Reply(_payload(stats)))

    ended = tidegate("task", "get", ID)

    assert ended.code == 0
    for shown in (ID, "RUNNING", "clicks:3", "w1 127.0.0.1:8091", "1004", "not-json"):
        assert shown in ended.out
    document = tidegate("task", "get", ID, "-o", "json").json()
    assert isinstance(document, dict)
    assert document.keys() == {"status", "reports"}


def test_a_task_without_reports_is_shown_all_the_same(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{BASE}/task/{ID}/status", Reply({"task": ID, "status": ROW}))
    server.refuse("GET", f"{BASE}/task/{ID}/reports", 404, detail="No task reports were found")

    ended = tidegate("task", "get", ID)

    assert (ended.code, ended.err) == (0, "")
    assert ID in ended.out


def test_a_task_is_stopped(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/task/{ID}/shutdown", Reply({"task": ID}))

    ended = tidegate("task", "stop", ID)

    assert (ended.code, ended.out) == (0, f"{ID} has ended\n")
    server.refuse("POST", f"{BASE}/task/{ID}/shutdown", 404, detail="Cannot find any task")
    assert tidegate("task", "stop", ID).code == 1


def test_all_tasks_of_a_table_are_stopped(tidegate: Tidegate, server: Overlord) -> None:
    path = f"{BASE}/datasources/clicks/shutdownAllTasks"
    server.on("POST", path, Reply({"dataSource": "clicks"}))

    ended = tidegate("task", "stop-all", "clicks")

    assert (ended.code, ended.out) == (0, "clicks has no task of before any more\n")
    server.refuse("POST", path, 404, detail="No table clicks is there")
    assert tidegate("task", "stop-all", "clicks").code == 1


def test_a_log_is_printed_whole_piece_by_piece(tidegate: Tidegate, server: Overlord) -> None:
    _log_of(server, ["SUCCESS"], [LINES])

    ended = tidegate("task", "logs", ID)

    assert (ended.code, ended.out, ended.err) == (0, "".join(LINES), "")
    assert len(server.requests) > 2


def test_the_end_of_a_log_is_printed(tidegate: Tidegate, server: Overlord) -> None:
    _log_of(server, ["SUCCESS"], [LINES])

    ended = tidegate("task", "logs", ID, "--tail", str(len(LINES[-1])))

    assert (ended.code, ended.out) == (0, LINES[-1])


def test_a_log_is_followed_until_the_task_has_ended(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: each line once, those of the end included."""
    _log_of(server, ["RUNNING", "RUNNING", "SUCCESS"], [LINES[:3], LINES[3:7], LINES[7:9]])

    ended = tidegate("task", "logs", "-f", ID)

    assert (ended.code, ended.out) == (0, "".join(LINES[:9]))


@pytest.mark.parametrize("away", ["status", "log"])
def test_a_log_is_followed_across_a_restart_of_the_overlord(
    tidegate: Tidegate, server: Overlord, away: str
) -> None:
    """Goal: no line twice and none left out, whichever request meets the restart."""
    _log_of(server, [*["RUNNING"] * 5, "SUCCESS"], [LINES[:3], [], LINES[3:7], [], LINES[7:9]])
    reply, left = server.ask, [2]
    assert reply is not None

    def restarting(request: Request) -> Reply:
        if len(server.requests) > 3 and request.path.endswith(away) and left[0] > 0:
            left[0] -= 1
            problem = {"type": "/problems/unavailable", "status": 503, "detail": "it starts"}
            return Reply(problem, 503, "application/problem+json")
        return reply(request)

    server.ask = restarting
    ended = tidegate("task", "logs", "-f", ID)

    assert (ended.code, ended.out, left) == (0, "".join(LINES[:9]), [0])
    assert ended.err.count("waiting: ") == 1


def test_what_is_missing_is_told(tidegate: Tidegate, server: Overlord) -> None:
    server.refuse("GET", f"{BASE}/task/{ID}/log", 404, detail="No log was found for this task.")

    ended = tidegate("task", "logs", ID)

    assert ended.code == 1
    assert "No log was found" in ended.err


def test_a_log_that_is_not_all_there_says_so_beside_it(
    tidegate: Tidegate, server: Overlord
) -> None:
    missing = "5 bytes, up to 2026-01-05T12%3A00%3A00Z, are stored; the rest is at worker w1"
    headers = {
        "X-Tidegate-Log-Start": "0",
        "X-Tidegate-Log-Size": "5",
        "X-Tidegate-Log-Missing": missing,
    }
    server.on("GET", f"{BASE}/task/{ID}/log", Reply("line\n", 200, "text/plain", headers))

    ended = tidegate("task", "logs", ID)

    assert (ended.code, ended.out) == (0, "line\n")
    assert "the log is not all here: 5 bytes, up to 2026-01-05T12:00:00Z" in ended.err


def test_what_a_log_holds_does_not_steer_the_terminal(tidegate: Tidegate, server: Overlord) -> None:
    _log_of(server, ["SUCCESS"], [["a\x1b[2Jb\n"]])

    assert tidegate("task", "logs", ID).out == "a\\x1b[2Jb\n"


def test_workers_are_listed_with_how_they_stand(tidegate: Tidegate, server: Overlord) -> None:
    row = {
        "id": "w1",
        "host": "127.0.0.1:8091",
        "slots": {"total": 4, "used": 2},
        "taskCount": 3,
        "registeredAt": "2026-01-05T12:00:00Z",
        "liveness": "ALIVE",
        "disabled": True,
    }
    server.on("GET", "/api/v1/workers", Reply([row]))

    ended = tidegate("worker", "list")

    assert ended.out.splitlines()[1].split() == [
        "w1",
        "127.0.0.1:8091",
        "ALIVE,",
        "disabled",
        "4",
        "2",
        "3",
    ]
    assert tidegate("worker", "list", "-o", "json").json() == [row]


def test_a_worker_is_shown_with_its_spark_and_tasks(tidegate: Tidegate, server: Overlord) -> None:
    began = "2026-01-05T12:00:00Z"
    rewrite = {"id": "c", "dataSource": "clicks", "inputs": 3}
    rewrite |= {"intervalStart": began, "intervalEnd": began}
    row = {
        "id": "w1",
        "host": "127.0.0.1:8091",
        "liveness": "ALIVE",
        "slots": {"total": 4, "used": 2},
        "version": "0.1.0",
        "uptime": 3_600,
        "sparkMaster": "local[*]",
        "memory": {"residentBytes": 805_306_368, "heapMaxBytes": None},
        "registeredAt": began,
        "tasks": [{"id": "a", "supervisorId": "clicks", "phase": "READING", "createdAt": began}],
        "compactions": [rewrite],
    }
    server.on("GET", "/api/v1/workers/w1", Reply(row))

    ended = tidegate("worker", "show", "w1")

    assert ended.code == 0, ended.err
    words = " ".join(ended.out.split())
    assert "version 0.1.0 runs for 1h" in words
    assert "spark master local[*] memory of its JVM 768.0 MiB" in words
    assert "a clicks READING" in words
    assert "compaction c of clicks: 3 files" in ended.err
    assert tidegate("worker", "show", "w1", "-o", "json").json() == row


@pytest.mark.parametrize("verb", ["disable", "enable"])
def test_workers_are_taken_out_and_in(tidegate: Tidegate, server: Overlord, verb: str) -> None:
    server.on("POST", f"{BASE}/worker/w1/{verb}", Reply({"127.0.0.1:8091": f"{verb}d"}))

    ended = tidegate("worker", verb, "w1")

    assert (ended.code, ended.out) == (0, f"w1 is {verb}d\n")


def test_the_command_that_runs_a_worker_is_still_there(tidegate: Tidegate) -> None:
    ended = tidegate("worker", "--help")

    assert ended.code == 0
    assert "--slots" in ended.out
    assert tidegate("worker", "--slots", "0").code == 2


def test_found_tasks_are_shown_page_by_page(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/tasks", Reply({"tasks": [ROW], "next": "abc"}))

    words = ("--supervisor", "clicks", "--group", "0", "--own-failures", "--status", "FAILED")
    ended = tidegate("task", "find", "abcdefgh", *words, "-n", "1")

    assert ended.code == 0
    assert ID in ended.out
    assert "--cursor abc" in ended.err
    assert server.requests[-1].query == {
        "q": ["abcdefgh"],
        "supervisor": ["clicks"],
        "group": ["0"],
        "ownFailure": ["true"],
        "status": ["FAILED"],
        "limit": ["1"],
    }
