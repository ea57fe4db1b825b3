"""`tidegate supervisor`: verbs, tables, exit codes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from supervisor.core.spec.json_schema import spec_schema
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

BASE = "/druid/indexer/v1/supervisor"
SPEC = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "clicks"}}}
ERROR = {"timestamp": "2026-11-21T03:16:15.188Z", "exceptionClass": "E", "message": "boom"}


def status(state: str = "RUNNING", **members: object) -> dict[str, object]:
    payload = {
        "dataSource": "clicks",
        "stream": "clicks",
        "state": state,
        "detailedState": state,
        "healthy": True,
        "suspended": state == "SUSPENDED",
        "activeTasks": [],
        "publishingTasks": [],
        "groups": [],
        "recentErrors": [],
    }
    return {"id": "clicks", "generationTime": "2026-11-21T03:17:03.479Z"} | {
        "payload": payload | members
    }


def task(task_id: str = "index_kafka_clicks_0123456789abcde_abcdefgh") -> dict[str, object]:
    return {
        "id": task_id,
        "startingOffsets": {"0": 100, "10": 5},
        "currentOffsets": {"0": 150, "10": 6},
        "startTime": "2026-11-21T03:16:15.188Z",
        "remainingSeconds": 11,
        "type": "ACTIVE",
        "lag": {"0": 0},
    }


def test_apply_posts_the_file_as_it_is(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", BASE, Reply({"id": "clicks", "modified": True, "version": 1}))
    text = '{"type": "kafka",\n  "spec": {}}'
    (tmp_path / "spec.json").write_text(text)

    ended = tidegate("supervisor", "apply", "-f", "spec.json")

    assert (ended.code, ended.out) == (0, "clicks is applied\n")
    [request] = server.requests
    assert (request.body.decode(), request.content_type) == (text, "application/json")


def test_apply_tells_each_change_and_what_it_disturbs(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    change = {"field": "/spec/ioConfig/replicas", "from": 1, "to": 2, "effect": "hot"}
    body = {"id": "clicks", "modified": True, "version": 2, "changes": [change]}
    server.on("POST", BASE, Reply(body))
    (tmp_path / "spec.json").write_text("{}")

    ended = tidegate("supervisor", "apply", "-f", "spec.json")

    assert ended.out == "/spec/ioConfig/replicas: 1 -> 2 (hot)\nclicks is applied\n"


def test_apply_of_an_unchanged_spec_says_so(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", BASE, Reply({"id": "clicks", "modified": False, "version": 3}))
    (tmp_path / "spec.json").write_text("{}")

    assert tidegate("supervisor", "apply", "-f", "spec.json").out == "clicks is unchanged\n"


def test_warnings_are_talk_and_the_answer_is_json(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    body = {"id": "clicks", "modified": True, "version": 1, "warnings": ["heap has no meaning"]}
    server.on("POST", BASE, Reply(body))
    (tmp_path / "spec.json").write_text("{}")

    ended = tidegate("supervisor", "apply", "-f", "spec.json", "-o", "json")

    assert ended.json() == body
    assert ended.err == "warning: heap has no meaning\n"


def test_a_refused_spec_prints_each_field_and_no_traceback(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.refuse(
        "POST",
        BASE,
        400,
        title="The spec is not acceptable",
        detail="/spec/ioConfig/topc: unknown field (did you mean topic?)",
        errors=[
            {
                "pointer": "/spec/ioConfig/topc",
                "message": "unknown field",
                "hint": "did you mean topic?",
            }
        ],
    )
    (tmp_path / "spec.json").write_text("{}")

    ended = tidegate("supervisor", "apply", "-f", "spec.json")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "error: The spec is not acceptable\n"
        "  /spec/ioConfig/topc: unknown field (did you mean topic?)\n"
    )


def test_a_spec_file_that_is_not_there_is_an_error(tidegate: Tidegate, server: Overlord) -> None:
    ended = tidegate("supervisor", "apply", "-f", "none.json")

    assert (ended.code, server.requests) == (1, [])
    assert "none.json" in ended.err


def test_wait_of_apply_ends_when_its_tasks_read(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", BASE, Reply({"id": "clicks", "modified": True, "version": 1}))
    server.on(
        "GET",
        f"{BASE}/clicks/status",
        Reply("Cannot find any supervisor with id: [clicks]", 404, "text/plain"),
        Reply(status("PENDING")),
        Reply(status(detailedState="CREATING_TASKS")),
        Reply(status(activeTasks=[task()], pendingReplicas=0)),
    )
    (tmp_path / "spec.json").write_text("{}")

    ended = tidegate("supervisor", "apply", "-f", "spec.json", "--wait", "30")

    assert ended.code == 0
    assert len([a for a in server.requests if a.method == "GET"]) == 4


def test_wait_of_apply_ends_when_fixed_ranges_are_all_read(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    """Goal: a bounded supervisor may be done before anybody saw it read."""
    server.on("POST", BASE, Reply({"id": "clicks", "modified": True, "version": 1}))
    server.on("GET", f"{BASE}/clicks/status", Reply(status("COMPLETED", activeTasks=[])))
    (tmp_path / "spec.json").write_text("{}")

    assert tidegate("supervisor", "apply", "-f", "spec.json", "--wait", "30").code == 0


def test_a_deadline_of_wait_is_exit_code_4_and_says_what_is_missing(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", BASE, Reply({"id": "clicks", "modified": True, "version": 1}))
    waiting = status(detailedState="NO_CAPACITY", why="2 more slots needed, 0 free")
    server.on("GET", f"{BASE}/clicks/status", Reply(waiting))
    (tmp_path / "spec.json").write_text("{}")

    ended = tidegate("supervisor", "apply", "-f", "spec.json", "--wait", "0.1")

    assert ended.code == 4
    assert "NO_CAPACITY; 2 more slots needed, 0 free" in ended.err


def test_wait_of_terminate_ends_when_no_task_of_it_runs(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Goal: another supervisor whose id begins alike does not hold it up."""
    server.on("POST", f"{BASE}/clicks/terminate", Reply({"id": "clicks"}))
    server.on(
        "GET",
        f"{BASE}/clicks/status",
        Reply(status("STOPPING", groups=[{"generationId": "g1", "state": "PUBLISHING"}])),
        Reply("Cannot find any supervisor with id: [clicks]", 404, "text/plain"),
    )
    other = {"id": "index_kafka_clicks_eu_0123456789abcde_abcdefgh", "dataSource": "clicks"}
    server.on(
        "GET",
        "/druid/indexer/v1/tasks",
        Reply([other, {"id": "index_kafka_clicks_0123456789abcde_abcdefgh"}]),
        Reply([other]),
    )

    ended = tidegate("supervisor", "terminate", "clicks", "--yes", "--wait", "30")

    assert (ended.code, ended.out) == (0, "clicks is terminated; its table stays\n")
    assert server.requests[-1].path == "/druid/indexer/v1/tasks"


def test_wait_of_terminate_says_what_was_given_up(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: who ends a supervisor reads which offsets are in no table.  Source: P19."""
    headers = {"Tidegate-Operation": "op_7"}
    server.on("POST", f"{BASE}/clicks/terminate", Reply({"id": "clicks"}, headers=headers))
    lost = {"generation": "clicks:7", "group": 0, "start": {"clicks:0": 5, "clicks:1": 2}}
    ranges = [{**lost, "end": {"clicks:0": 9, "clicks:1": 4}}, {**lost, "end": None}]
    done = {"id": "op_7", "state": "done", "at": "2026-01-05T12:00:00Z", "unpublished": ranges}
    server.on("GET", "/api/v1/operations/op_7", Reply(done))

    ended = tidegate("supervisor", "terminate", "clicks", "--yes", "--wait", "30")

    assert (ended.code, ended.out) == (0, "clicks is terminated; its table stays\n")
    given_up = "not published, no task of it was left: clicks:7: clicks:0 from 5"
    notices = f"{given_up} to 9, clicks:1 from 2 to 4\n{given_up}, clicks:1 from 2\n"
    assert ended.err.removeprefix("waiting until op_7 is done\n") == notices


def test_terminate_without_a_terminal_asks_for_yes_and_does_nothing(
    tidegate: Tidegate, server: Overlord
) -> None:
    ended = tidegate("supervisor", "terminate", "clicks")

    assert (ended.code, server.requests) == (2, [])
    assert "--yes" in ended.err


def test_suspend_and_resume_say_what_is_now(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/clicks/suspend", Reply(SPEC))
    server.on("POST", f"{BASE}/clicks/resume", Reply(SPEC))
    server.on("GET", f"{BASE}/clicks/status", Reply(status("SUSPENDED")))

    assert tidegate("supervisor", "suspend", "clicks", "--wait", "5").out == (
        "clicks is suspended\n"
    )
    assert tidegate("supervisor", "resume", "clicks").out == "clicks runs\n"


def test_an_unknown_supervisor_is_told_in_the_overlords_words(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Source: Druid 33: an unknown id is a 404 of text/plain."""
    message = "Cannot find any supervisor with id: [x]"
    server.on("GET", f"{BASE}/x/status", Reply(message, 404, "text/plain"))

    ended = tidegate("supervisor", "status", "x")

    assert (ended.code, ended.out, ended.err) == (1, "", f"error: {message}\n")


def test_an_id_is_one_part_of_the_path(tidegate: Tidegate, server: Overlord) -> None:
    tidegate("supervisor", "get", "a/../b?c")

    [request] = server.requests
    assert (request.path, request.query) == (f"{BASE}/a/../b?c", {})


def test_list_shows_one_line_per_supervisor(tidegate: Tidegate, server: Overlord) -> None:
    rows = [
        {"id": "a", "state": "RUNNING", "detailedState": "RUNNING", "healthy": True},
        {"id": "b", "state": "UNHEALTHY_TASKS", "detailedState": "x", "healthy": False},
    ]
    server.on("GET", BASE, Reply(rows))

    lines = tidegate("supervisor", "list").out.splitlines()

    assert [line.split() for line in lines] == [
        ["ID", "STATE", "DETAIL", "HEALTHY"],
        ["a", "RUNNING", "RUNNING", "yes"],
        ["b", "UNHEALTHY_TASKS", "x", "no"],
    ]
    assert tidegate("supervisor", "list", "-o", "json").json() == rows


def test_get_prints_the_spec(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{BASE}/clicks", Reply(SPEC))

    assert tidegate("supervisor", "get", "clicks").json() == SPEC


def test_status_shows_offsets_lag_and_the_next_publish(
    tidegate: Tidegate, server: Overlord
) -> None:
    due = (datetime.now(UTC) + timedelta(seconds=90)).isoformat()
    document = status(
        why="all is well",
        activeTasks=[task()],
        committedOffsets={"0": 100, "10": 5},
        latestOffsets={"0": 160, "10": 6, "2": 7},
        minimumLag={"0": 10, "10": 0, "2": 7},
        aggregateLag=1_217,
        offsetsLastUpdated="2026-01-05T10:29:48Z",
        groups=[{"generationId": "g1", "group": 0, "state": "READING", "nextPublishDue": due}],
        recentErrors=[{**ERROR, "workerId": "w7"}],
    )
    server.on("GET", f"{BASE}/clicks/status", Reply(document))

    lines = [line.split() for line in tidegate("supervisor", "status", "clicks").out.splitlines()]

    assert {"why all is well", "lag 1,217 as of"} <= {" ".join(each[:4]) for each in lines}
    partitions = lines.index(["PARTITION", "COMMITTED", "CURRENT", "LATEST", "LAG"])
    assert lines[partitions + 1 : partitions + 4] == [
        ["0", "100", "150", "160", "10"],
        ["2", "7", "7"],
        ["10", "5", "6", "6", "0"],
    ]
    assert any(line[:2] == ["next", "publish"] and "in" in " ".join(line) for line in lines)
    assert any(line[0] == "E" and line[-2:] == ["w7", "boom"] for line in lines if line)


def test_status_of_plain_druid_is_shown_too(tidegate: Tidegate, server: Overlord) -> None:
    """Source: the status of a pending supervisor of Druid 33."""
    document = {"id": "s", "payload": {"dataSource": "s", "state": "PENDING", "activeTasks": []}}
    server.on("GET", f"{BASE}/s/status", Reply(document))

    ended = tidegate("supervisor", "status", "s")

    assert (ended.code, "PENDING" in ended.out) == (0, True)


def test_health_is_the_exit_code(tidegate: Tidegate, server: Overlord) -> None:
    """Source: Druid 33: 503 with {"healthy": false}."""
    server.on("GET", f"{BASE}/good/health", Reply({"healthy": True}))
    server.on("GET", f"{BASE}/bad/health", Reply({"healthy": False}, 503))

    assert tidegate("supervisor", "health", "good").code == 0
    assert tidegate("supervisor", "health", "bad").code == 1


def test_history_tells_what_each_version_changed(tidegate: Tidegate, server: Overlord) -> None:
    def version(number: int, *, suspended: bool = False, **io_config: object) -> dict[str, object]:
        sections = {"ioConfig": {"topic": "clicks"} | io_config}
        spec = {"type": "kafka", "spec": sections, "suspended": suspended} | sections
        return {"version": f"v{number}", "spec": spec}

    rows = [
        {"version": "v5", "spec": {"type": "noop"}},
        version(4),
        version(3, suspended=True),
        version(2),
        version(1, taskCount=2),
    ]
    server.on("GET", f"{BASE}/clicks/history", Reply(rows))

    lines = tidegate("supervisor", "history", "clicks").out.splitlines()

    assert [line.split() for line in lines[1:]] == [
        ["v5", "terminated"],
        ["v4", "resumed", "suspended"],
        ["v3", "suspended", "suspended"],
        ["v2", "changed", "ioConfig.taskCount"],
        ["v1", "oldest", "shown"],
    ]


def test_history_follows_the_pages_up_to_its_limit(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: the link names the page only: nothing is asked elsewhere."""

    def page(*numbers: int, link: str = "") -> Reply:
        rows = [
            {"version": f"v{number}", "versionNumber": number, "spec": {"type": "kafka"}}
            for number in numbers
        ]
        return Reply(rows, headers={"Link": link} if link else {})

    there = f"{BASE}/clicks/history"
    following = '<http://elsewhere{path}?count=3&before={before}>; rel="next"'
    pages = (
        page(5, 4, link=following.format(path=there, before=4)),
        page(3, 2, link=following.format(path=there, before=2)),
        page(1),
    )
    server.on("GET", there, *pages)

    three = tidegate("supervisor", "history", "clicks", "-n", "3", "-o", "name").out.split()
    server.on("GET", there, *pages)
    every_one = tidegate("supervisor", "history", "clicks", "-o", "name").out.split()

    assert (three, every_one) == (["5", "4", "3"], ["5", "4", "3", "2", "1"])
    asked = [request.query.get("before") for request in server.requests]
    assert asked == [None, ["4"], None, ["4"], ["2"]]


def test_what_others_wrote_cannot_steer_the_terminal(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{BASE}/clicks/status", Reply(status(why="\x1b[2J\x07[red]gone[/red]")))

    out = tidegate("supervisor", "status", "clicks").out

    assert "\\x1b[2J\\x07[red]gone[/red]" in out
    assert "\x1b" not in out


def test_get_keeps_every_value(tidegate: Tidegate, server: Overlord) -> None:
    spec = {"spec": {"context": {"größe": "ä", "n": [1, None, True, 1.5]}}}
    server.on("GET", f"{BASE}/clicks", Reply(spec))

    assert json.loads(tidegate("supervisor", "get", "clicks").out) == spec


def test_the_json_schema_is_printed(tidegate: Tidegate) -> None:
    assert tidegate("supervisor", "schema").json() == spec_schema()
