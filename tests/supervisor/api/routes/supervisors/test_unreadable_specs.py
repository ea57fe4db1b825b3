"""A stored spec that only a newer release can read: its tasks go on, and all others are served."""

from datetime import timedelta

import pytest

from supervisor.control.sync_answers import AGE_MAX_S
from tasks.contract.messages import SyncResponse
from tests.conformance.metadata.databases import execute
from tests.supervisor.api.agents import Agent
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document
from tests.waiting import wait_until

OTHER = "views"
ROLLBACK = f"/api/v1/supervisors/{TOPIC}/rollback"


def _by_hand(world: World, statement: str) -> None:
    """Change rows as no leader does: syncs see it once their answers are too old."""
    execute(f"sqlite:///{world.database}", statement)
    world.clock.advance(timedelta(seconds=AGE_MAX_S))


def _of_another_release(world: World) -> None:
    _by_hand(
        world,
        "UPDATE supervisor_specs SET spec = json_set(spec, '$.ofTheFuture', 1), release = '0.9.0' "
        "WHERE supervisor_id = 'clicks'",
    )


def _read_again(world: World) -> None:
    _by_hand(
        world,
        "UPDATE supervisor_specs SET spec = json_remove(spec, '$.ofTheFuture')",
    )


@pytest.fixture
def agents(world: World) -> list[Agent]:
    """Two workers with tasks of two supervisors, of which the spec of one is of a newer release."""
    agents = world.start(task_count=1)
    world.streams.create(OTHER, 2)
    document = spec_document(task_count=1, topic=OTHER)
    schema = document["spec"]["dataSchema"]  # type: ignore[index]  # its shape is known
    schema["dataSource"] = OTHER
    assert world.post(SUPERVISORS, document).status_code == 200
    world.settle(OTHER)
    world.round(agents)
    _of_another_release(world)
    return agents


def _sync(agent: Agent) -> SyncResponse:
    answer = agent.post(agent.request())
    assert answer.status_code == 200, answer.text
    return SyncResponse.from_json(answer.content)


def test_its_tasks_are_kept_as_they_are_and_those_of_others_are_served(
    world: World, agents: list[Agent]
) -> None:
    """Goal: after a rollback no worker is without orders for what one spec says."""
    for agent in agents:
        before = {task.wanted.supervisor_id: task.wanted for task in agent.held.values()}
        response = _sync(agent)

        assert [task.task_id for task in response.tasks] == [before[OTHER].task_id]
        assert response.kept == (before[TOPIC].task_id,)

    _read_again(world)
    response = _sync(agents[0])
    assert {task.supervisor_id for task in response.tasks} == {TOPIC, OTHER}
    assert b"kept" not in agents[0].post(agents[0].request()).content, "left out in other times"


def test_a_kept_task_goes_on_from_its_journal_under_the_next_incarnation_of_its_worker(
    world: World, agents: list[Agent]
) -> None:
    """Goal: after a rollback and a restart nothing that its journal holds is read again."""
    [kept] = _sync(agents[0]).kept
    anew = world.agent(agents[0].id, incarnation=2)
    assert _sync(anew).kept == (kept,)

    _read_again(world)
    listed = {task.task_id: task for task in _sync(anew).tasks}
    assert listed[kept].taken_up


def test_others_hand_off_while_it_cannot_be_read(world: World, agents: list[Agent]) -> None:
    assert world.post(f"{SUPERVISORS}/{OTHER}/suspend", {}).status_code == 200
    world.settle(OTHER)

    orders = [task.order for agent in agents for task in _sync(agent).tasks]

    assert all(order.sequence > 0 for order in orders)


def test_its_publish_is_to_be_asked_for_again(world: World) -> None:
    """Goal: no answer that would end the task: an overlord that can read the spec judges it."""
    agents = world.start(task_count=1, replicas=1)
    [(agent, mine)] = [(agent, task_id) for agent in agents for task_id in agent.held]
    agent.read(mine, 5)
    agent.sync()
    assert world.post(f"{SUPERVISORS}/{TOPIC}/suspend", {}).status_code == 200
    world.settle()
    world.round(agents)
    _of_another_release(world)

    answer = agent.publish(mine)

    assert answer.status_code == 503, answer.text
    assert answer.json()["type"] == "/problems/spec-unreadable"
    _read_again(world)
    assert agent.publish(mine).json()["outcome"] == "committed"


@pytest.mark.usefixtures("agents")
def test_lists_show_which_spec_and_which_release_wrote_it(world: World) -> None:
    assert world.get(SUPERVISORS) == [TOPIC, OTHER]
    listed = world.client.get(f"{SUPERVISORS}?state=true").json()
    rows = {row["id"]: row for row in listed}
    assert (rows[TOPIC]["state"], rows[TOPIC]["detailedState"], rows[TOPIC]["healthy"]) == (
        "UNHEALTHY_SUPERVISOR",
        "UNREADABLE_SPEC",
        False,
    )
    assert "version 1 of the spec of clicks was written by Tidegate 0.9.0" in rows[TOPIC]["why"]
    assert rows[OTHER]["healthy"] is True
    assert set(world.client.get(f"{SUPERVISORS}/history").json()) == {OTHER}
    assert TOPIC in world.client.get("/api/v1/datasources").json()["dataSources"]


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("path", ["", "/status", "/history"])
def test_what_needs_its_spec_says_which_release_can_read_it(world: World, path: str) -> None:
    answer = world.client.get(f"{SUPERVISORS}/{TOPIC}{path}")

    assert answer.status_code == 503
    assert answer.json()["type"] == "/problems/spec-unreadable"
    assert "0.9.0" in answer.json()["detail"]
    assert "/ofTheFuture" in answer.json()["detail"]


@pytest.mark.usefixtures("agents")
def test_its_health_and_the_metrics_name_the_state(world: World) -> None:
    assert world.client.get(f"{SUPERVISORS}/{TOPIC}/health").status_code == 503
    assert "UNREADABLE_SPEC" in world.client.get("/metrics").text


@pytest.mark.usefixtures("agents")
def test_its_passes_fail_by_themselves_and_nothing_is_changed(world: World) -> None:
    before = world.get("/druid/indexer/v1/tasks")
    world.loop.wake(TOPIC)
    wait_until(lambda: bool(world.loop.errors(TOPIC)))

    assert world.loop.errors(TOPIC)[0].kind == "SpecUnreadable"
    assert world.get("/druid/indexer/v1/tasks") == before
    assert world.client.get("/api/v1/operations").status_code == 200
    world.post(f"{SUPERVISORS}/suspendAll", {})
    world.settle(OTHER)
    assert world.client.get(f"{SUPERVISORS}/{OTHER}").json()["suspended"] is True


@pytest.mark.usefixtures("agents")
def test_a_term_begins_and_every_other_supervisor_is_looked_at(world: World) -> None:
    after = world.clock.now()
    world.leadership._on_lead()

    assert world.leadership.leads()
    world.settle(OTHER)
    last = world.loop.last_pass(OTHER)
    assert last is not None
    assert last.seen.now >= after


def test_a_range_in_a_state_of_a_newer_release_stops_no_other_supervisor(
    world: World, agents: list[Agent]
) -> None:
    """Goal: after a rollback workers have their orders, and a term begins with passes."""
    _read_again(world)
    _by_hand(
        world,
        "UPDATE generations SET state = 'OF_THE_FUTURE' WHERE supervisor_id = 'clicks'",
    )
    for agent in agents:
        response = _sync(agent)
        assert {task.supervisor_id for task in response.tasks} == {OTHER}
        assert len(response.kept) == 1

    before = world.clock.now()
    world.leadership._on_lead()
    world.loop.wake(TOPIC)
    wait_until(lambda: bool(world.loop.errors(TOPIC)))
    world.settle(OTHER)

    assert world.loop.errors(TOPIC)[0].kind == "UnknownWord"
    last = world.loop.last_pass(OTHER)
    assert last is not None
    assert last.seen.now >= before
    files = world.client.get(f"/api/v1/datasources/{OTHER}/files")
    assert files.status_code == 200, files.text


# ---------------------------------------------------------------- what may follow it


def _readable(topic: str = TOPIC) -> Json:
    """A spec of the same table that this release reads."""
    return spec_document(task_count=1, lateMessageRejectionPeriod="PT5M", topic=topic)


def _publish_all(agents: list[Agent]) -> None:
    for agent in agents:
        for task_id in sorted(agent.held):
            if agent.held[task_id].wanted.order.end is not None:
                assert agent.publish(task_id).json()["outcome"] in {
                    "committed",
                    "already-published",
                }


def _read(agents: list[Agent], records: int) -> None:
    for agent in agents:
        for task_id, held in agent.held.items():
            if held.wanted.supervisor_id == TOPIC:
                agent.read(task_id, records)
        agent.sync()


def test_a_spec_that_is_read_here_follows_it_and_nothing_is_read_again(
    world: World, agents: list[Agent]
) -> None:
    """Goal: who is left with a newer release's spec need not wait for that release."""
    for partition in range(2):
        world.streams.append(TOPIC, partition, 5)
    _read(agents, 5)
    answer = world.post(SUPERVISORS, _readable())

    assert answer.status_code == 200, answer.text
    posted = answer.json()
    assert (posted["version"], posted["restarted"]) == (2, True)
    [change] = posted["changes"]
    assert (change["field"], change["effect"]) == ("/spec", "restart-tasks")
    assert "version 1, which only Tidegate 0.9.0 can read" in change["from"]
    world.settle()
    world.round(agents)
    _publish_all(agents)
    world.round(agents)

    operation = world.get_object(f"/api/v1/operations/{posted['operationId']}")
    assert operation["state"] == "done", operation
    payload = world.payload()
    assert payload["detailedState"] == "RUNNING", payload["detailedState"]
    with world.store.reading() as tx:
        assert {row.next_offset for row in tx.offsets.of(TOPIC).values()} == {5}
        assert {g.spec_version for g in tx.generations.live(TOPIC)} == {2}


def test_it_can_be_terminated_and_what_was_read_is_published(
    world: World, agents: list[Agent]
) -> None:
    _read(agents, 5)
    answer = world.post(f"{SUPERVISORS}/{TOPIC}/terminate", {})

    assert answer.status_code == 200, answer.text
    world.settle()
    world.round(agents)
    _publish_all(agents)
    world.round(agents)
    assert world.get(SUPERVISORS) == [OTHER]
    with world.store.reading() as tx:
        assert {row.next_offset for row in tx.offsets.of(TOPIC).values()} == {5}
        assert tx.generations.live(TOPIC) == []
        assert tx.tasks.active(TOPIC) == []
    operation = world.get_object(f"/api/v1/operations/{answer.headers['Tidegate-Operation']}")
    assert operation["state"] == "done", operation


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize(
    "path",
    [f"{SUPERVISORS}/{TOPIC}/{verb}" for verb in ("suspend", "resume", "reset")] + [ROLLBACK],
)
def test_what_needs_its_spec_says_what_to_do_instead(world: World, path: str) -> None:
    answer = world.post(path, {"version": 1})

    assert answer.status_code == 503, answer.text
    assert answer.json()["type"] == "/problems/spec-unreadable"
    assert "POST a spec that this release reads, terminate it, or let" in answer.json()["detail"]


@pytest.mark.usefixtures("agents")
def test_a_dry_run_says_what_would_follow_it(world: World) -> None:
    verdict = world.post("/api/v1/supervisors/validate?connect=false", _readable()).json()

    assert verdict["valid"] is True, verdict
    assert "1 task group hands off" in verdict["restartsWhat"]


@pytest.mark.usefixtures("agents")
def test_another_topic_or_table_cannot_follow_it(world: World) -> None:
    """Goal: its offsets and files belong to what it read, which is known at its usual place."""
    answer = world.post(SUPERVISORS, _readable(topic=OTHER))

    assert answer.status_code == 400, answer.text
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/spec/ioConfig/topic"
    assert "'clicks', which version 1 has" in error["message"]


@pytest.mark.usefixtures("agents")
def test_its_precondition_is_judged_by_its_number_and_time(world: World) -> None:
    headers = {"If-Match": '"1-0000000000000000"'}
    refused = world.client.post(SUPERVISORS, json=_readable(), headers=headers)
    assert refused.status_code == 412, refused.text
    tag = refused.json()["etag"]

    done = world.client.post(SUPERVISORS, json=_readable(), headers={"If-Match": tag})

    assert done.status_code == 200, done.text
    assert world.client.get(f"{SUPERVISORS}/{TOPIC}").status_code == 200
    back = world.post(ROLLBACK, {"version": 2})
    assert back.status_code == 200, back.text
