"""Reports of tasks: live from what workers say, final from the rows.

Source: answers of Druid 33.0.0.
"""

from datetime import timedelta

import pytest

from supervisor.adapters.reports.memory import MemoryReports
from supervisor.control.leadership import Leadership
from tasks.contract.messages import FailureCode, TaskPhase
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.runtime.secrets import known_secrets
from tests.security.leaks import BY_NAME, BY_VALUE, CANARY, SECRET
from tests.supervisor.api.agents import Agent
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, World, spec_document, task_ids

TOTALS = {"processed", "processedBytes", "processedWithError", "thrownAway", "unparseable"}


def _reports(world: World, task_id: str) -> dict[str, dict[str, object]]:
    found = world.get_object(f"{TASKS}/task/{task_id}/reports")
    assert all(isinstance(part, dict) for part in found.values())
    return found  # type: ignore[return-value]  # checked above


def _payload(world: World, task_id: str) -> dict[str, object]:
    report = _reports(world, task_id)["ingestionStatsAndErrors"]
    assert (report["type"], report["taskId"]) == ("ingestionStatsAndErrors", task_id)
    payload = report["payload"]
    assert isinstance(payload, dict)
    return payload


def _reading(world: World) -> tuple[Agent, str]:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 6, rejected=2)
    agent.sync()
    return agent, task_id


def _publishes(world: World, agent: Agent, task_id: str) -> None:
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round([agent])
    assert agent.publish(task_id).json()["outcome"] == "committed"


def test_a_running_task_reports_live(world: World) -> None:
    _, task_id = _reading(world)

    payload = _payload(world, task_id)

    assert payload.keys() == {"ingestionState", "unparseableEvents", "rowStats"}
    assert payload["ingestionState"] == "BUILD_SEGMENTS"
    stats = payload["rowStats"]
    assert isinstance(stats, dict)
    assert stats["totals"]["buildSegments"].keys() == TOTALS
    assert stats["totals"]["rejected"] == {"not-json": 2}
    windows = stats["movingAverages"]["buildSegments"]
    assert windows.keys() == {"1m", "5m", "15m"}
    assert all(window.keys() == TOTALS for window in windows.values())
    events = payload["unparseableEvents"]
    assert isinstance(events, dict)
    assert [e["details"] for e in events["buildSegments"]] == [["not JSON"], ["not JSON"]]
    assert "taskContext" not in _reports(world, task_id)


def test_rates_follow_what_workers_say_and_are_in_the_stats_as_well(world: World) -> None:
    agent, task_id = _reading(world)
    before = agent.held[task_id].position
    world.clock.advance(timedelta(seconds=30))
    agent.read(task_id, 600)
    agent.sync()
    assert before

    live = _payload(world, task_id)["rowStats"]
    stats = world.get_object(f"{SUPERVISORS}/{TOPIC}/stats")

    assert stats == {"0": {task_id: live}}
    assert isinstance(live, dict)
    rates = {w: r["processed"] for w, r in live["movingAverages"]["buildSegments"].items()}
    grown = rates["1m"] * 60
    assert grown >= 600
    assert abs(rates["5m"] * 300 - grown) < 1
    assert abs(rates["15m"] * 900 - grown) < 1


def test_what_a_task_published_is_reported_for_good(world: World) -> None:
    """Goal: another overlord, which has heard nothing, tells the same."""
    agent, task_id = _reading(world)
    _publishes(world, agent, task_id)

    reports = _reports(world, task_id)

    payload = _payload(world, task_id)
    assert payload == {
        "ingestionState": "COMPLETED",
        "unparseableEvents": payload["unparseableEvents"],
        "rowStats": {
            "buildSegments": {
                "processed": 1,
                "processedBytes": 0,
                "processedWithError": 0,
                "thrownAway": 0,
                "unparseable": 0,
            },
            "rejected": {},
        },
        "errorMsg": None,
        "segmentAvailabilityConfirmed": True,
        "segmentAvailabilityWaitTimeMs": 0,
        "recordsProcessed": {"0": 6},
    }
    events = payload["unparseableEvents"]
    assert isinstance(events, dict)
    assert len(events["buildSegments"]) == 2
    assert reports["taskContext"] == {
        "type": "taskContext",
        "taskId": task_id,
        "payload": {"checkpoints": '{"0":{"0":0}}'},
    }
    _steps_down(world.leadership)
    assert _reports(world, task_id) == reports


def test_partitions_of_a_pattern_have_one_name_in_the_report_and_in_the_payload(
    world: World,
) -> None:
    """Fault: a range of one of the topics named its partitions by number in the report alone."""
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 20)
    world.post(SUPERVISORS, spec_document(1, 1, topic=None, topicPattern="cli.*"))
    agent = world.agent("w1")
    world.round([agent])
    [(_, task_id)] = task_ids([agent])
    agent.read(task_id, 6)
    agent.sync()
    _publishes(world, agent, task_id)

    name = f"{TOPIC}:0"
    assert _payload(world, task_id)["recordsProcessed"] == {name: 6}
    context = _reports(world, task_id)["taskContext"]["payload"]
    task = world.get_object(f"{TASKS}/task/{task_id}")["payload"]
    assert isinstance(task, dict)
    assert context == {"checkpoints": task["context"]["checkpoints"]}
    assert task["ioConfig"]["startSequenceNumbers"]["partitionOffsetMap"] == {name: 0}


def _steps_down(leadership: Leadership) -> None:
    leadership.lost(leadership.term())
    assert not leadership.leads()


def test_a_task_that_failed_reports_how_far_it_was_and_why(world: World) -> None:
    agent, task_id = _reading(world)
    request = agent.request()
    report = request.tasks[0].model_copy(
        update={
            "phase": TaskPhase.FAILED,
            "failure": FailureCode.READ_FAILED,
            "detail": "the broker went away",
        }
    )
    agent.post(request.model_copy(update={"tasks": (report,)}))
    world.settle()

    payload = _payload(world, task_id)

    assert payload["errorMsg"] == "READ_FAILED: the broker went away"
    assert payload["segmentAvailabilityConfirmed"] is False
    assert payload["recordsProcessed"] == {"0": 6}


def test_a_stopped_task_reports_what_it_said_last(world: World) -> None:
    agent, task_id = _reading(world)
    world.post(f"{TASKS}/task/{task_id}/shutdown")
    agent.held.pop(task_id)

    payload = _payload(world, task_id)

    assert payload["errorMsg"] == "Shutdown request from user"
    assert payload["recordsProcessed"] == {"0": 6}


def test_a_task_that_never_spoke_has_no_reports(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(_, task_id)] = task_ids(agents)
    world.post(f"{TASKS}/task/{task_id}/shutdown")
    world.settle()
    [pending] = world.get_rows(f"{TASKS}/pendingTasks")

    found = world.get_object(f"{TASKS}/task/{pending['id']}/reports", 404)

    assert found["type"] == "/problems/no-task-reports"
    assert world.client.get(f"{TASKS}/task/no-such/reports").status_code == 404


def _sent(task_id: str, kind: RecordType, **payload: object) -> ReportRecord:
    """Return what the worker of a task's first attempt has sent."""
    return ReportRecord.model_validate(
        {
            "type": kind,
            "recordId": record_id_of(task_id, 1, kind, 0),
            "subject": task_id,
            "attempt": 1,
            "origin": RecordOrigin.STREAM,
            "at": "2026-01-05T12:00:00Z",
            "seq": 0,
            "payload": {
                "phase": "READING",
                "position": {"clicks:0": 6},
                "counters": {"processed": 4, "unparseable": 2, "batches": 1},
                "samples": [
                    {
                        "topic": "clicks",
                        "partition": 0,
                        "offset": 3,
                        "reason": "not-json",
                        "input": "{",
                    }
                ],
                **payload,
            },
        }
    )


def _stopped_unheard(world: World) -> str:
    """Return a task that ended before its worker said anything of it."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(_, task_id)] = task_ids(agents)
    world.post(f"{TASKS}/task/{task_id}/shutdown")
    world.settle()
    [pending] = world.get_rows(f"{TASKS}/pendingTasks")
    unheard = str(pending["id"])
    world.post(f"{TASKS}/task/{unheard}/shutdown")
    world.settle()
    return unheard


def test_of_a_task_that_ended_without_a_word_the_stored_progress_is_shown(world: World) -> None:
    task_id = _stopped_unheard(world)
    stored = MemoryReports()
    world.store_reports(stored)
    assert world.client.get(f"{TASKS}/task/{task_id}/reports").status_code == 404

    record = _sent(task_id, RecordType.PROGRESS)
    attempt = record.model_copy(update={"attempt": _attempt_of(world, task_id)})
    stored.put_many([attempt])
    payload = _payload(world, task_id)

    assert payload["asOf"] == "2026-01-05T12:00:00+00:00"
    assert payload["final"] is False
    rows = payload["rowStats"]
    assert isinstance(rows, dict)
    assert rows["buildSegments"]["processed"] == 4
    [event] = payload["unparseableEvents"]["buildSegments"]  # type: ignore[index]
    assert event["input"] == "{"


def _attempt_of(world: World, task_id: str) -> int:
    with world.store.reading() as tx:
        task = tx.tasks.get(task_id)
    assert task is not None
    return task.attempt


@pytest.mark.parametrize("kind", [RecordType.TASK_REPORT, RecordType.COMBINED])
def test_a_task_that_published_nothing_shows_the_samples_that_it_sent(
    world: World, kind: RecordType
) -> None:
    agent, task_id = _reading(world)
    world.post(f"{TASKS}/task/{task_id}/shutdown")
    agent.held.pop(task_id)
    assert _payload(world, task_id)["unparseableEvents"] == {"buildSegments": []}
    stored = MemoryReports()
    stored.put_many([_sent(task_id, kind, startedAt="2026-01-05T11:00:00Z")])
    world.store_reports(stored)

    payload = _payload(world, task_id)

    assert payload["recordsProcessed"] == {"0": 6}
    [event] = payload["unparseableEvents"]["buildSegments"]  # type: ignore[index]
    assert event["input"] == "{"


@pytest.mark.parametrize("payload", [{"position": "x"}, {"head": "{", "tail": "}"}])
def test_a_stored_report_that_was_cut_or_is_of_another_release_is_no_fault(
    world: World, payload: dict[str, object]
) -> None:
    agent, task_id = _reading(world)
    world.post(f"{TASKS}/task/{task_id}/shutdown")
    agent.held.pop(task_id)
    stored = MemoryReports()
    record = _sent(task_id, RecordType.TASK_REPORT, **payload)
    if "head" in payload:
        record = record.model_copy(update={"payload": payload})
    stored.put_many([record])
    world.store_reports(stored)

    assert _payload(world, task_id)["unparseableEvents"] == {"buildSegments": []}


def test_only_the_leader_knows_what_a_running_task_has_counted(world: World) -> None:
    _, task_id = _reading(world)
    _steps_down(world.leadership)

    answer = world.client.get(f"{TASKS}/task/{task_id}/reports")

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


@pytest.mark.parametrize("detail", [BY_NAME, BY_VALUE])
def test_what_an_older_worker_tells_is_shown_without_its_secrets(world: World, detail: str) -> None:
    """Goal: such a worker masks nothing; what it reports is masked at the overlord's door."""
    known_secrets().learn(SECRET)
    agent, task_id = _reading(world)
    request = agent.request()
    failed = {"phase": TaskPhase.FAILED, "failure": FailureCode.READ_FAILED, "detail": detail}
    failed |= {"suspect": detail}
    report = request.tasks[0].model_copy(update=failed)
    sent = request.model_copy(update={"tasks": (report,), "previous_end": detail})
    assert CANARY in sent.to_json()
    assert agent.post(sent).status_code == 200
    before = world.client.get(f"{SUPERVISORS}/{TOPIC}/status").text
    world.settle()

    payload = _payload(world, task_id)
    status = world.client.get(f"{SUPERVISORS}/{TOPIC}/status").text
    workers = world.client.get("/api/v1/workers").text

    assert str(payload["errorMsg"]).startswith("READ_FAILED: ")
    assert CANARY not in f"{payload} {before} {status} {workers}"
