"""Tables, their files, ledgers and plans."""

from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest

from supervisor.core.model.rows import GapKind, OffsetGap
from supervisor.verify.ledger import CheckedLedger
from tasks.contract.ingest_spec import Column
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.world import (
    NOON,
    SUPERVISORS,
    TOPIC,
    Agent,
    World,
    spec_document,
    task_ids,
)
from tests.supervisor.core.spec.spec_documents import changed

_DIMENSIONS = "/spec/dataSchema/dimensionsSpec/dimensions"
FILES = f"/api/v1/datasources/{TOPIC}/files"


def _published(world: World) -> tuple[list[Agent], str]:
    """Ten records are published, three rejected among them, and a successor reads on."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 50)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 10)
    world.pass_time(timedelta(minutes=11), agents)
    world.round(agents)
    assert agent.publish(task_id).json()["outcome"] == "committed"
    world.settle()
    world.round(agents)
    return agents, task_id


def test_the_files_of_a_table_are_those_that_were_published(world: World) -> None:
    _, task_id = _published(world)

    listing = world.get_object(FILES)

    assert (listing["dataSource"], listing["warehouse"], listing["missing"]) == (
        TOPIC,
        "/warehouse",
        [],
    )
    path = f"{TOPIC}/data/{task_id}/part-0.parquet"
    assert listing["files"] == [
        {
            "path": path,
            "uri": f"/warehouse/{path}",
            "published": True,
            "rows": 10,
            "sizeBytes": 1_000,
            "sha256": "0" * 64,
            "intervalStart": "2026-01-05T12:00:00Z",
            "intervalEnd": "2026-01-05T13:00:00Z",
            "supervisorId": TOPIC,
            "generationId": f"{TOPIC}:1",
            "taskId": task_id,
            "compactionId": None,
            "columnSet": 0,
        }
    ]
    columns = [{"name": "user", "type": "string"}, {"name": "n", "type": "long"}]
    assert (listing["columns"], listing["columnSets"]) == (columns, [columns])


def test_a_declared_column_of_texts_and_numbers_is_listed_as_one_of_texts(world: World) -> None:
    """Goal: who reads the list goes by the spec, and not by what a value looks like."""
    _published(world)
    with world.store.leading(world.leadership.term()) as tx:
        [before] = tx.segments.of_data_source(TOPIC)
        numbers = Column(name="user", type="long"), Column(name="n", type="string")
        file = before.file.model_copy(update={"path": f"{before.file.path}.2"})
        new = replace(before, id="new", columns=numbers, file=file)
        [range_] = tx.segments.publications(TOPIC)
        tx.segments.add(replace(range_, generation_id=f"{TOPIC}:2"), [new])

    listing = world.get_object(FILES)

    columns = [{"name": "user", "type": "string"}, {"name": "n", "type": "json"}]
    assert listing["columns"] == columns, "the spec declares user alone"


@pytest.mark.parametrize("published", [False, True])
def test_a_type_that_a_tables_files_turn_into_another_is_warned_of(
    world: World, *, published: bool
) -> None:
    """Goal: who applies it, or only asks, knows before any record is read with it."""
    if published:
        _published(world)
    else:  # what is being read has the type of before
        world.start(partitions=1, task_count=1, replicas=1)
    numbers = [{"type": "long", "name": "user"}, {"type": "double", "name": "bytes"}]
    wanted = changed(_DIMENSIONS, numbers, spec_document(task_count=1, replicas=1))

    validated = world.post("/api/v1/supervisors/validate", wanted).json()["warnings"]
    previewed = world.post(f"{SUPERVISORS}?dryRun=true", wanted).json()["warnings"]
    applied = world.post(SUPERVISORS, wanted).json()["warnings"]

    [warning] = applied
    assert validated == previewed == applied
    assert "column user is declared long, and ranges of the table hold it as string" in warning
    assert "the table's type of it is string" in warning
    assert len(world.post(SUPERVISORS, wanted).json()["warnings"]) == 1
    fitting = world.post(SUPERVISORS, spec_document(task_count=1, replicas=1)).json()
    assert (fitting["modified"], fitting.get("warnings")) == (True, None)


def test_journaled_files_of_one_replica_per_live_generation_are_added_on_request(
    world: World,
) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=2)
    slow, fast = agents
    for task_id in slow.held:
        slow.read(task_id, 5)
    for task_id in fast.held:
        fast.read(task_id, 8)
    for agent in agents:
        agent.sync()

    listing = world.get_object(f"{FILES}?include=journaled")

    files = listing["files"]
    assert isinstance(files, list)
    assert sorted(f["taskId"] for f in files) == sorted(fast.held)  # the furthest one
    assert {(f["published"], f["sha256"], f["intervalStart"]) for f in files} == {
        (False, None, None)
    }
    assert [(f["rows"], f["columnSet"]) for f in files] == [(8, 0), (8, 0)]
    assert listing["columns"] == [{"name": "user", "type": "json"}]
    assert world.get_object(FILES)["files"] == []


def test_a_silent_worker_is_replaced_by_the_other_replica_and_else_named(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=2)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 8 if agent.id == "w1" else 5)
        agent.sync()

    world.journals.silent = {"w1"}
    one = world.get_object(f"{FILES}?include=journaled")
    world.journals.silent = {"w1", "w2"}
    none = world.get_object(f"{FILES}?include=journaled")

    assert isinstance(one["files"], list)
    assert [(f["rows"], one["missing"]) for f in one["files"]] == [(5, [])]
    assert none["files"] == []
    assert isinstance(none["missing"], list)
    [reason] = none["missing"]
    assert reason.startswith(f"{TOPIC}:1: ")


def test_workers_that_hang_are_asked_all_at_once_and_hold_no_answer_up(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=2)
    tasks = {task_id for _, task_id in task_ids(agents)}
    woken = Event()
    world.journals.hanging = {agent.id: woken for agent in agents}

    try:
        listing = world.get_object(f"{FILES}?include=journaled")
        held_up = set(world.journals.held_up)
    finally:
        woken.set()

    assert (listing["files"], held_up) == ([], tasks)
    assert isinstance(listing["missing"], list)
    assert [reason.partition(": ")[0] for reason in listing["missing"]] == [
        f"{TOPIC}:1",
        f"{TOPIC}:2",
    ]
    assert all("does not answer" in reason for reason in listing["missing"])


def test_who_hangs_takes_no_time_from_the_other_replica(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=2)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 8 if agent.id == "w1" else 5)
        agent.sync()
    woken = Event()
    world.journals.hanging = {"w1": woken}

    try:
        listing = world.get_object(f"{FILES}?include=journaled")
    finally:
        woken.set()

    assert isinstance(listing["files"], list)
    assert [(f["rows"], listing["missing"]) for f in listing["files"]] == [(5, [])]


def test_a_replica_beyond_the_fixed_end_is_not_shown_since_its_successor_reads_the_same(
    world: World,
) -> None:
    """Source: protocol rule P14: what lies beyond the end is dropped."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 50)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 10)
    world.pass_time(timedelta(minutes=11), agents)
    world.round(agents)
    agent.read(task_id, 1)  # beyond the end, and reported
    agent.sync()

    listing = world.get_object(f"{FILES}?include=journaled")

    assert isinstance(listing["files"], list)
    assert task_id not in [f["taskId"] for f in listing["files"]]
    assert isinstance(listing["missing"], list)
    assert any("beyond the end" in reason for reason in listing["missing"])


def test_an_unknown_table_is_a_404_and_one_without_files_is_empty(world: World) -> None:
    world.post(SUPERVISORS, spec_document())

    unknown = world.get_object("/api/v1/datasources/no-such/files", 404)

    assert unknown["type"] == "/problems/data-source-not-found"
    assert unknown["dataSource"] == "no-such"
    assert world.get_object(FILES)["files"] == []
    assert world.get_object("/api/v1/datasources") == {"dataSources": [TOPIC]}


def test_include_takes_journaled_only(world: World) -> None:
    assert world.get_object(f"{FILES}?include=all", 400)["type"] == "/problems/invalid-request"


def test_the_ledger_is_what_verify_reads(world: World) -> None:
    _, task_id = _published(world)
    at = TopicPartition(TOPIC, 0)
    gap = OffsetGap(TOPIC, at, 3, 5, GapKind.SKIPPED, "alex", "a test", NOON)
    with world.store.leading(world.leadership.term()) as tx:
        tx.offsets.declare(gap)

    answer = world.client.get(f"/api/v1/supervisors/{TOPIC}/ledger")

    ledger = CheckedLedger.from_json(answer.content)
    assert (ledger.supervisor_id, ledger.data_source, ledger.warehouse) == (
        TOPIC,
        TOPIC,
        "/warehouse",
    )
    assert ledger.kafka.bootstrap_servers == "localhost:9092"
    assert ledger.committed_ranges() == {at: (0, 10)}
    assert ledger.topic_ids() == {TOPIC: "id-1"}
    assert [(g.first, g.end, g.kind) for g in ledger.gaps] == [(3, 5, "skipped")]
    [publication] = ledger.publications
    assert (publication.task_id, publication.rows, publication.rejected) == (task_id, 10, 0)
    assert (publication.start, publication.end) == ({at: 0}, {at: 10})
    assert [s.rows for s in publication.segments] == [10]


def test_plans_tell_what_was_decided_and_why(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)

    page = world.get_object(f"/api/v1/supervisors/{TOPIC}/plans")
    [newest] = _rows(world.get_object(f"/api/v1/supervisors/{TOPIC}/plans?limit=1")["plans"])

    plans = _rows(page["plans"])
    assert newest == plans[0]
    actions = [action for plan in reversed(plans) for action in _rows(plan["actions"])]
    assert [a["action"] for a in actions] == [
        "CommitInitialOffsets",
        "OpenGeneration",
        "StartTask",
    ]
    assert all(a["why"] and a["about"] for a in actions)
    assert {plan["term"] for plan in plans} == {1}


@pytest.mark.parametrize("limit", ["0", "201"])
def test_the_number_of_plans_is_bounded(world: World, limit: str) -> None:
    world.get(f"/api/v1/supervisors/{TOPIC}/plans?limit={limit}", 400)


@pytest.mark.parametrize("what", ["ledger", "plans"])
def test_an_unknown_supervisor_is_a_problem_under_our_own_paths(world: World, what: str) -> None:
    problem = world.get_object(f"/api/v1/supervisors/no-such/{what}", 404)

    assert problem["type"] == "/problems/supervisor-not-found"
    assert problem["supervisorId"] == "no-such"


def _rows(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value
