"""Compaction by the API: rules, asking for it, and what becomes of it."""

from typing import cast

import pytest

from supervisor.verify.ledger import CheckedLedger
from tests.supervisor.api.routes.tables.test_segments import LEDGER, OURS, files, listed, publish
from tests.supervisor.api.world import (
    SUPERVISORS,
    TOPIC,
    Agent,
    Json,
    World,
    spec_document,
    task_ids,
)

RULE = f"{OURS}/compaction"
COMPACT = f"{OURS}/compact"
ALL = "/api/v1/compactions"
DEFAULTS = {"targetRows": 5_000_000, "targetBytes": 268_435_456, "filesMin": 2}


def publish_two(world: World) -> list[Agent]:
    """Two files of one chunk."""
    agents, _ = publish(world)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 10)
    world.post(f"/druid/indexer/v1/supervisor/{TOPIC}/taskGroups/handoff", {"taskGroupIds": [0]})
    world.settle()
    world.round(agents)
    assert agent.publish(task_id).json()["outcome"] == "committed"
    world.settle()
    world.round(agents)
    return agents


def compactions(world: World, query: str = "") -> list[Json]:
    return cast("list[Json]", world.get_object(f"{ALL}{query}")["compactions"])


def test_what_is_not_said_is_as_the_specs_of_the_table_have_it(world: World) -> None:
    """Goal: files grow to what they would be in one go; a second feeder may want larger ones."""
    sizes = {TOPIC: (70_000, 2**21), "beside": (40_000, 2**22), "another": (9_000_000, 2**40)}
    for name, (rows, size_bytes) in sizes.items():
        document = spec_document()
        inner = cast("Json", document["spec"])
        inner["tuningConfig"] = {"maxRowsPerSegment": rows, "targetSegmentBytes": size_bytes}
        if name == "another":
            cast("Json", inner["dataSchema"])["dataSource"] = name
        assert world.post(SUPERVISORS, document | {"id": name}).status_code == 200

    rule = world.client.put(RULE, json={}).json()
    assert (rule["targetRows"], rule["targetBytes"]) == (70_000, 2**22)
    own_sizes = world.client.put(RULE, json={"targetRows": 5, "targetBytes": None}).json()
    assert (own_sizes["targetRows"], own_sizes["targetBytes"]) == (5, 2**22)
    large = world.client.put("/api/v1/datasources/another/compaction", json={}).json()
    assert (large["targetRows"], large["targetBytes"]) == (9_000_000, 16 * 1024**3)


def test_files_become_one_and_everything_tells_of_it(world: World) -> None:
    agents = publish_two(world)
    begun = world.post(COMPACT, {}).json()["compactions"]
    metric = f'tidegate_compactions{{state="running",table="{TOPIC}"}} 1.0'
    assert metric in world.client.get("/metrics").text
    assert [(c["files"], c["rows"], c["reason"]) for c in begun] == [(2, 20, "anonymous")]
    for agent in agents:
        agent.sync()
    [(agent, order)] = [(agent, order) for agent in agents for order in agent.compactions]

    assert agent.publish_compacted(order).json()["outcome"] == "committed"

    [file] = cast("list[Json]", files(world))
    assert (file["rows"], file["compactionId"]) == (20, order.compaction_id)
    [done] = compactions(world)
    assert (done["status"], done["workerId"]) == ("SUCCESS", agent.id)
    assert done == world.get_object(f"{ALL}/{order.compaction_id}")
    assert done == compactions(world, f"?dataSource={TOPIC}&limit=1")[0]
    states = {(each["used"], each["replacedBy"], each["compactionId"]) for each in listed(world)}
    assert states == {(False, order.compaction_id, None), (True, None, order.compaction_id)}
    ledger = CheckedLedger.model_validate(world.get_object(LEDGER))
    assert [len(each.compacted) for each in ledger.publications] == [1, 1]
    agent.sync()
    assert agent.compactions == ()


def test_a_rule_is_set_shown_and_dropped(world: World) -> None:
    publish(world)
    nothing = dict.fromkeys(("skipOffsetFromLatest", *DEFAULTS, "author", "setAt"))
    assert world.get_object(RULE) == {"dataSource": TOPIC} | nothing

    put = world.client.put(RULE, json={"filesMin": 4}, headers={"X-Druid-Author": "ann"})

    assert put.status_code == 200
    rule = world.get_object(RULE)
    assert rule == put.json()
    assert rule.items() >= (DEFAULTS | {"filesMin": 4, "author": "ann"}).items()
    assert rule["skipOffsetFromLatest"] == "P1D"
    assert world.client.put(RULE, json={"skipOffsetFromLatest": "PT90M"}).status_code == 200
    assert world.get_object(RULE)["skipOffsetFromLatest"] == "PT5400S"
    assert world.client.delete(RULE).json()["skipOffsetFromLatest"] is None


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"targetRows": 1}, "/targetRows"),
        ({"targetBytes": 10}, "/targetBytes"),
        ({"filesMin": 1}, "/filesMin"),
        ({"filesMin": 501}, "/filesMin"),
        ({"maxRows": 5}, "/maxRows"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused_with_its_place(
    world: World, body: Json, pointer: str
) -> None:
    publish(world)
    for response in (world.client.put(RULE, json=body), world.post(COMPACT, body)):
        assert response.status_code == 400
        assert [each["pointer"] for each in response.json()["errors"]] == [pointer]


def test_an_interval_of_another_form_is_refused(world: World) -> None:
    publish(world)
    response = world.post(COMPACT, {"interval": "yesterday"})

    assert (response.status_code, response.json()["type"]) == (400, "/problems/invalid-request")


def test_one_is_cancelled_and_its_worker_hears_so(world: World) -> None:
    agents = publish_two(world)
    [begun] = world.post(COMPACT, {}).json()["compactions"]
    cancelled = world.post(f"{ALL}/{begun['id']}/cancel").json()
    assert (cancelled["status"], cancelled["detail"]) == ("FAILED", "given up by anonymous")

    for agent in agents:
        agent.sync()

    assert [agent.compactions for agent in agents] == [(), ()]
    assert len(files(world)) == 2


def test_what_is_not_there_is_404(world: World) -> None:
    publish(world)
    unknown = "/api/v1/datasources/unknown"
    answers = [
        world.client.get(f"{unknown}/compaction"),
        world.client.put(f"{unknown}/compaction", json={}),
        world.client.delete(f"{unknown}/compaction"),
        world.post(f"{unknown}/compact", {}),
        world.client.get(f"{ALL}?dataSource=unknown"),
        world.client.get(f"{ALL}/compact_x"),
        world.post(f"{ALL}/compact_x/cancel"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 7
    problems = [answer.json()["type"] for answer in answers]
    assert (
        problems == ["/problems/data-source-not-found"] * 5 + ["/problems/compaction-not-found"] * 2
    )


def test_a_stranger_cannot_swap(world: World) -> None:
    agents = publish_two(world)
    world.post(COMPACT, {})
    for agent in agents:
        agent.sync()
    [(agent, order)] = [(agent, order) for agent in agents for order in agent.compactions]

    answer = agent.publish_compacted(order.model_copy(update={"token": "guess"}))

    assert (answer.status_code, len(files(world))) == (403, 2)
    assert "guess" not in answer.text
