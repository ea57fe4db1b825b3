"""Druid's supervisor routes answer as Druid does.  Source: answers of Druid 33.0.0."""

import json
from copy import deepcopy

import httpx
import pytest

from supervisor.core.model.rows import SLOT_TAKEN, TaskStatus
from supervisor.core.planning.observed import StreamTrouble
from tests.supervisor.api.world import NOON, SUPERVISORS, TOPIC, World, spec_document, task_ids

# Copied from the answers of a running Druid; ours may have more members, never fewer.
ROW_FULL = {"id", "state", "detailedState", "healthy", "suspended", "spec"}
ROW_STATE = {"id", "state", "detailedState", "healthy", "suspended"}
SPEC = {"type", "spec", "dataSchema", "ioConfig", "tuningConfig", "context", "suspended"}
PAYLOAD_PENDING = {
    "dataSource",
    "stream",
    "partitions",
    "replicas",
    "durationSeconds",
    "activeTasks",
    "publishingTasks",
    "minimumLag",
    "aggregateLag",
    "suspended",
    "healthy",
    "state",
    "detailedState",
    "recentErrors",
}
PAYLOAD = PAYLOAD_PENDING | {"latestOffsets", "offsetsLastUpdated"}
PUBLISHING_TASK = {
    "id",
    "startingOffsets",
    "startTime",
    "remainingSeconds",
    "type",
    "currentOffsets",
}
ACTIVE_TASK = PUBLISHING_TASK | {"lag"}
RECENT_ERROR = {"timestamp", "exceptionClass", "message", "streamException"}
PARSE_ERROR = {"input", "errorType", "details", "timeOfExceptionMillis"}
TOTALS = {"processed", "processedBytes", "processedWithError", "thrownAway", "unparseable"}


def test_a_post_creates_a_supervisor_and_the_same_again_changes_nothing(world: World) -> None:
    first = world.post(SUPERVISORS, spec_document())
    again = world.post(SUPERVISORS, spec_document())

    assert first.status_code == 200
    created = {"id": TOPIC, "modified": True, "restarted": False, "version": 1}
    assert first.json() == created | {"operationId": "op_1"}
    assert again.json() == {"id": TOPIC, "modified": False, "restarted": False, "version": 1}
    assert world.get(SUPERVISORS) == [TOPIC]


def test_what_get_answers_may_be_posted_and_counts_as_unmodified(world: World) -> None:
    world.post(SUPERVISORS, spec_document())

    document = world.get_object(f"{SUPERVISORS}/{TOPIC}")

    assert document.keys() >= SPEC
    assert world.post(SUPERVISORS, document).json()["modified"] is False


def test_what_has_no_effect_is_accepted_with_a_warning(world: World) -> None:
    document = deepcopy(spec_document())
    document["spec"] |= {"tuningConfig": {"type": "kafka", "maxRowsInMemory": 1_000}}  # type: ignore[operator]  # a document of a test

    answer = world.post(SUPERVISORS, document).json()

    assert len(answer["warnings"]) == 1
    assert "maxRowsInMemory" in answer["warnings"][0]


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize(
    ("kind", "field"), [("avro_stream", "avroBytesDecoder"), ("protobuf", "protoBytesDecoder")]
)
def test_a_registry_that_nobody_has_allowed_is_refused(
    world: World, kind: str, field: str, *, within: bool
) -> None:
    def posted(url: str) -> httpx.Response:
        decoder = {"type": "schema_registry", "url": url}
        inner: dict[str, object] = {"type": kind, field: decoder}
        form = {"type": "kafka", "keyFormat": inner} if within else inner
        return world.post(SUPERVISORS, spec_document(inputFormat=form))

    allowed, refused = posted("http://registry:8081/path"), posted("http://registry:8082")

    assert allowed.status_code == 200
    assert refused.status_code == 400
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/spec/ioConfig/inputFormat"
    assert "registry:8082: not a schema registry that workers may connect to" in error["message"]


def test_the_list_has_rows_on_request(world: World) -> None:
    world.start()

    [full] = world.get_rows(f"{SUPERVISORS}?full=true")
    [state] = world.get_rows(f"{SUPERVISORS}?state=true")
    [system] = world.get_rows(f"{SUPERVISORS}?system=true")

    assert full.keys() == ROW_FULL | {"dataSource"}
    assert full["spec"] == world.get(f"{SUPERVISORS}/{TOPIC}")
    assert state.keys() == ROW_STATE | {"dataSource"}
    assert (state["state"], state["healthy"], state["dataSource"]) == ("RUNNING", True, TOPIC)
    assert (system["type"], system["source"]) == ("kafka", TOPIC)
    assert isinstance(system["specString"], str)
    assert json.loads(system["specString"]) == full["spec"]


def test_the_status_before_the_first_pass_is_pending_and_knows_no_offsets(world: World) -> None:
    world.loop.stop()
    world.streams.fail(StreamTrouble.CONNECTING, "connecting")
    world.post(SUPERVISORS, spec_document())

    payload = world.payload()

    assert payload.keys() >= PAYLOAD_PENDING
    assert payload.keys().isdisjoint({"latestOffsets", "offsetsLastUpdated"})
    assert (payload["state"], payload["detailedState"]) == ("PENDING", "PENDING")
    assert (payload["healthy"], payload["partitions"], payload["activeTasks"]) == (True, 0, [])
    assert world.get(f"{SUPERVISORS}/{TOPIC}/health") == {"healthy": True}


def test_the_status_lists_tasks_offsets_and_lag(world: World) -> None:
    agents = world.start(partitions=2, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 100)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 40, rejected=3)
    agent.sync()

    status = world.get_object(f"{SUPERVISORS}/{TOPIC}/status")
    payload = world.payload()

    assert status.keys() == {"id", "generationTime", "payload"}
    assert str(status["generationTime"]).endswith("Z")
    assert payload.keys() >= PAYLOAD
    [task] = _rows(payload["activeTasks"])
    assert task.keys() >= ACTIVE_TASK
    assert task["startingOffsets"] == {"0": 0, "1": 0}
    assert task["currentOffsets"] == {"0": 40, "1": 40}
    assert task["lag"] == {"0": 60, "1": 0}  # a replica may be ahead of the last look
    assert (task["type"], task["phase"]) == ("ACTIVE", "READING")
    assert payload["latestOffsets"] == {"0": 100, "1": 0}
    assert (payload["minimumLag"], payload["aggregateLag"]) == ({"0": 60, "1": 0}, 60)
    assert payload["rejected"] == {"live": 6, "published": 0}
    [group] = _rows(payload["groups"])
    assert (group["state"], group["end"]) == ("READING", None)
    assert str(group["nextPublishDue"]).startswith("2026-01-05T12:10:00")
    assert (payload["slotsNeeded"], payload["pendingReplicas"], payload["version"]) == (0, 0, 1)
    assert payload["slotsFree"] == 7


def test_a_task_that_nobody_has_reported_has_no_offsets_yet(world: World) -> None:
    world.streams.create(TOPIC, 1)
    world.agent("w1").sync()
    world.post(SUPERVISORS, spec_document(replicas=1))
    world.settle()

    payload = world.payload()

    [task] = _rows(payload["activeTasks"])
    assert (task["currentOffsets"], task["lag"]) == ({}, {})
    assert (task["startTime"], task["remainingSeconds"]) == (None, None)
    assert payload["detailedState"] == "CREATING_TASKS"


def test_a_publishing_task_counts_down_to_completion_timeout_and_has_no_lag(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    agent.sync()
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)

    payload = world.payload()

    [task] = _rows(payload["publishingTasks"])
    assert task.keys() >= PUBLISHING_TASK
    assert "lag" not in task
    assert task["type"] == "PUBLISHING"
    assert isinstance(task["remainingSeconds"], int)
    assert 1_790 <= task["remainingSeconds"] <= 1_800
    assert payload["activeTasks"] == []


def test_a_missing_slot_is_told_with_how_many_are_needed(world: World) -> None:
    world.streams.create(TOPIC, 2)
    world.agent("w1", slots=1).sync()
    world.post(SUPERVISORS, spec_document(task_count=2, replicas=1))
    world.settle()

    payload = world.payload()

    assert (payload["state"], payload["detailedState"]) == ("RUNNING", "NO_CAPACITY")
    assert (payload["slotsNeeded"], payload["slotsFree"], payload["pendingReplicas"]) == (1, 0, 1)
    assert "start another worker" in str(payload["why"])


def test_trouble_with_the_stream_is_an_error_of_the_stream_and_ends_in_a_503(world: World) -> None:
    world.post(SUPERVISORS, spec_document())  # its topic does not exist
    for _ in range(3):
        world.settle()

    payload = world.payload()

    assert (payload["state"], payload["detailedState"]) == (
        "UNHEALTHY_SUPERVISOR",
        "UNABLE_TO_CONNECT_TO_STREAM",
    )
    error = _rows(payload["recentErrors"])[-1]
    assert error.keys() == RECENT_ERROR | {"taskId", "workerId"}
    assert error["streamException"] is True
    assert "does not exist" in str(error["message"])
    assert world.get(f"{SUPERVISORS}/{TOPIC}/health", 503) == {"healthy": False}


def test_a_task_whose_slot_another_range_got_is_no_error(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    (_, displaced), (_, broken) = task_ids(agents)
    with world.store.leading(world.leadership.term()) as tx:
        for task_id, why in ((displaced, f"{SLOT_TAKEN}range clicks:9"), (broken, "killed")):
            assert tx.tasks.end(task_id, TaskStatus.FAILED, why, world.clock.now(), lost=True)

    errors = _rows(world.payload()["recentErrors"])

    assert [error["message"] for error in errors] == [f"{broken}: killed"]


def test_stats_have_druids_shape_by_group_and_task(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 10, rejected=1)
        agent.sync()

    stats = world.get_object(f"{SUPERVISORS}/{TOPIC}/stats")

    assert stats.keys() == {"0", "1"}
    for _, task_id in task_ids(agents):
        [leaf] = [group[task_id] for group in _groups(stats) if task_id in group]
        assert leaf.keys() == {"movingAverages", "totals"}
        assert leaf["totals"]["buildSegments"].keys() == TOTALS
        assert leaf["totals"]["buildSegments"]["unparseable"] == 1


def test_parse_errors_of_replicas_and_of_what_is_published_are_each_shown_once(
    world: World,
) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=2)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 10, rejected=2)
        agent.sync()

    live = world.get_rows(f"{SUPERVISORS}/{TOPIC}/parseErrors")
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)
    agent, task_id = next(task_ids(agents))
    assert agent.publish(task_id).json()["outcome"] == "committed"
    world.settle()
    published = world.get_rows(f"{SUPERVISORS}/{TOPIC}/parseErrors")

    assert [row["offset"] for row in live] == [1, 0]
    assert live[0].keys() >= PARSE_ERROR
    assert (live[0]["errorType"], live[0]["input"]) == ("unparseable", "{")
    assert [row["offset"] for row in published] == [1, 0]


def test_suspend_and_resume_answer_with_the_spec_and_refuse_what_is_so_already(
    world: World,
) -> None:
    world.post(SUPERVISORS, spec_document())

    resumed = world.post(f"{SUPERVISORS}/{TOPIC}/resume")
    suspended = world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    again = world.post(f"{SUPERVISORS}/{TOPIC}/suspend")

    assert (resumed.status_code, resumed.json()["error"]) == (
        400,
        "[clicks] is already running",
    )
    assert suspended.json() == world.get(f"{SUPERVISORS}/{TOPIC}")
    assert suspended.json()["suspended"] is True
    assert (again.status_code, again.json()["error"]) == (400, "[clicks] is already suspended")
    assert world.post(f"{SUPERVISORS}/{TOPIC}/resume").json()["suspended"] is False


def test_offsets_of_another_topic_that_the_id_once_read_are_not_shown(world: World) -> None:
    """Goal: who waits until all of the new topic is committed does not wait for ever."""
    agents = world.start(partitions=2)
    world.post(f"{SUPERVISORS}/{TOPIC}/terminate")
    world.settle()
    world.round(agents)
    world.streams.create("other", 1)
    document = spec_document(topic="other") | {"id": TOPIC}

    assert world.post(SUPERVISORS, document).status_code == 200
    world.settle()

    payload = world.payload()
    assert (payload["stream"], payload["committedOffsets"]) == ("other", {"0": 0})


@pytest.mark.parametrize("verb", ["terminate", "shutdown"])
def test_a_terminated_supervisor_is_a_tombstone_in_the_history(world: World, verb: str) -> None:
    world.post(SUPERVISORS, spec_document())
    spec = world.get(f"{SUPERVISORS}/{TOPIC}")

    terminated = world.post(f"{SUPERVISORS}/{TOPIC}/{verb}").json()
    assert terminated == {"id": TOPIC, "operationId": "op_2"}

    history = world.get_rows(f"{SUPERVISORS}/{TOPIC}/history")
    assert history[0]["spec"] == {
        "type": "noop",
        "id": None,
        "dataSources": [TOPIC],
        "suspended": False,
        "source": "noop",
    }
    assert [row["spec"] for row in history[1:]] == [spec]
    assert str(history[1]["version"]).startswith(NOON.strftime("%Y-%m-%dT%H:%M:"))
    assert world.get_rows(f"{SUPERVISORS}/{TOPIC}/history?count=1") == history[:1]
    assert world.get_object(f"{SUPERVISORS}/history") == {TOPIC: history}


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_a_count_of_versions_is_a_positive_number(world: World, count: str) -> None:
    world.post(SUPERVISORS, spec_document())

    problem = world.get_object(f"{SUPERVISORS}/{TOPIC}/history?count={count}", 400)

    assert problem["type"] == "/problems/invalid-request"
    assert [error["pointer"] for error in _rows(problem["errors"])] == ["/query/count"]


def test_the_author_is_a_comment_in_the_audit_log(world: World) -> None:
    headers = {"X-Druid-Author": "alex\x01" + "x" * 1_000}
    world.client.post(SUPERVISORS, json=spec_document(), headers=headers)

    with world.store.reading() as tx:
        [entry] = [e for e in tx.audit.recent(10) if e.action == "apply"]
    assert entry.actor.startswith("alexxx")
    assert len(entry.actor) == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/status"),
        ("GET", "/health"),
        ("GET", "/stats"),
        ("GET", "/parseErrors"),
        ("POST", "/suspend"),
        ("POST", "/resume"),
        ("POST", "/terminate"),
        ("POST", "/shutdown"),
    ],
)
def test_an_unknown_id_is_druids_text(world: World, method: str, path: str) -> None:
    answer = world.client.request(method, f"{SUPERVISORS}/no-such{path}")

    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text == "Cannot find any supervisor with id: [no-such]"


def test_an_unknown_id_is_a_problem_to_who_accepts_problems(world: World) -> None:
    accepts = {"Accept": "application/problem+json"}

    answer = world.client.get(f"{SUPERVISORS}/no-such", headers=accepts)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["supervisorId"] == "no-such"


def test_an_unknown_history_is_json_as_druids(world: World) -> None:
    problem = world.get_object(f"{SUPERVISORS}/no-such/history", 404)

    assert problem["error"] == "No history for [no-such]."
    assert problem["type"] == "/problems/no-history"


def _rows(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value


def _groups(stats: dict[str, object]) -> list[dict[str, dict[str, dict[str, dict[str, int]]]]]:
    groups = list(stats.values())
    assert all(isinstance(group, dict) for group in groups)
    return groups  # type: ignore[return-value]  # JSON of Druid's shape, compared above
