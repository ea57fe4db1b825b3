"""What a POST of a spec would do, asked without doing it."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import JsonValue

from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.reports.table_spec import spec_of_records
from supervisor.core.spec.reader import read_spec
from tasks.contract.sample import SampleAnswer
from tests.supervisor.api.routes.supervisors.test_sampler import sample_order, sampled_record
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document

VALIDATE = "/api/v1/supervisors/validate"
DRY_RUN = f"{SUPERVISORS}?dryRun=true"


def judged(world: World, wanted: object, path: str = VALIDATE) -> Json:
    response = world.post(path, wanted)
    assert response.status_code == 200, response.text
    found = response.json()
    assert isinstance(found, dict)
    return found


def test_the_spec_that_makes_reports_a_table_is_taken(world: World) -> None:
    """Goal: what `tidegate reports spec` prints can be applied as it is."""
    verdict = judged(
        world, spec_of_records("localhost:9092", r"completed[.-].*", "reports"), DRY_RUN
    )

    assert (verdict["valid"], verdict["exists"], verdict["errors"]) == (True, False, [])


@pytest.mark.parametrize("path", [VALIDATE, DRY_RUN])
def test_a_new_supervisor_is_told_of_and_not_made(world: World, path: str) -> None:
    world.streams.create(TOPIC, 2)
    world.streams.append(TOPIC, 1, 5)
    wanted = spec_document()

    verdict = judged(world, wanted, path)

    spec = verdict.pop("spec")
    assert world.get(SUPERVISORS) == []
    assert world.post(SUPERVISORS, wanted).json()["id"] == TOPIC
    assert spec == world.get(f"{SUPERVISORS}/{TOPIC}")
    partitions = [
        {"partition": 0, "earliest": 0, "latest": 0},
        {"partition": 1, "earliest": 0, "latest": 5},
    ]
    assert verdict == {
        "id": TOPIC,
        "valid": True,
        "errors": [],
        "warnings": [],
        "exists": False,
        "connect": {
            "reachable": True,
            "topics": [{"topic": TOPIC, "partitions": partitions}],
            "error": None,
        },
        "changes": [],
        "restarts": "none",
        "restartsWhat": "nothing runs under this id: a new supervisor would begin",
        "sample": None,
        "sampleError": None,
    }


@pytest.mark.parametrize("path", [VALIDATE, DRY_RUN])
@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"type": "kafka"},
        spec_document(taskDurations="PT1M"),
        spec_document(taskCount=0, taskDuration="soon"),
        spec_document(consumerProperties={"bootstrap.servers": "elsewhere:9092"}),
        spec_document(topic="a", topicPattern="b"),
    ],
)
def test_a_spec_that_a_post_refuses_has_the_same_errors(
    world: World, wanted: Json, path: str
) -> None:
    refused = world.post(SUPERVISORS, wanted)
    assert refused.status_code == 400

    verdict = judged(world, wanted, path)

    assert verdict["errors"] == refused.json()["errors"]
    assert (verdict["valid"], verdict["spec"], verdict["connect"]) == (False, None, None)
    assert (verdict["changes"], verdict["restarts"]) == ([], "none")


def test_a_change_that_no_supervisor_can_make_has_the_same_errors(world: World) -> None:
    world.streams.create("other", 1)
    world.post(SUPERVISORS, spec_document())
    wanted = spec_document(topic="other")

    verdict = judged(world, wanted)

    assert verdict["errors"] == world.post(SUPERVISORS, wanted).json()["errors"]
    assert verdict["valid"] is False
    assert verdict["restartsWhat"] == "the spec would be refused: nothing changes"


@pytest.mark.parametrize("path", [VALIDATE, DRY_RUN])
@pytest.mark.parametrize("body", [b"{oops", b"[]", b'{"a": 1, "a": 2}', b"", b'{"x": NaN}'])
def test_what_is_no_json_object_stays_a_400(world: World, path: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}

    assert world.client.post(path, content=body, headers=headers).status_code == 400


@pytest.mark.parametrize("path", [VALIDATE, DRY_RUN])
def test_slots_that_are_too_few_for_it_are_a_warning(world: World, path: str) -> None:
    """Goal: its own tasks count as slots that it has; a suspended one needs none."""
    world.start(partitions=10, task_count=2, replicas=1)  # two workers with four slots each

    fits = judged(world, spec_document(task_count=8, replicas=1), path)
    wide = judged(world, spec_document(task_count=10, replicas=1), path)
    capped = judged(world, spec_document(task_count=100, replicas=1), path)
    sleeps = judged(world, {**spec_document(task_count=10, replicas=1), "suspended": True}, path)

    few = "10 task groups need 10 slots, and workers have 8 for it: nobody reads 2 of them, until"
    assert (fits["warnings"], sleeps["warnings"]) == ([], [])
    for each in (wide, capped):
        assert each["valid"] is True
        [warning] = _texts(each["warnings"])
        assert warning.startswith(few)


def _texts(given: object) -> list[str]:
    assert isinstance(given, list)
    return [str(each) for each in given]


def test_every_change_is_told_as_the_post_tells_it(world: World) -> None:
    world.start(partitions=2)
    history = world.get(f"{SUPERVISORS}/{TOPIC}/history")
    wanted = spec_document(task_count=1, replicas=1)

    verdict = judged(world, wanted)
    again = judged(world, wanted)

    assert verdict == again
    assert verdict["restarts"] == "tasks"
    ends = "2 task groups hand off and publish what was read"
    assert verdict["restartsWhat"] == f"{ends}; tasks with the new spec go on from there"
    assert world.get(f"{SUPERVISORS}/{TOPIC}/history") == history
    assert world.post(SUPERVISORS, wanted).json()["changes"] == verdict["changes"]


@pytest.mark.parametrize(
    ("changed", "restarts", "effect"),
    [
        ({}, "none", "nothing changes: the stored spec says the same"),
        ({"replicas": 3}, "none", "nothing that runs is stopped: the new values hold at once"),
    ],
)
def test_what_disturbs_nothing_says_so(
    world: World, changed: dict[str, JsonValue], restarts: str, effect: str
) -> None:
    world.start(partitions=2)

    verdict = judged(world, spec_document(**changed))  # type: ignore[arg-type]

    assert (verdict["restarts"], verdict["restartsWhat"]) == (restarts, effect)


def test_a_suspension_is_told(world: World) -> None:
    world.start(partitions=2)

    verdict = judged(world, spec_document() | {"suspended": True})

    assert verdict["restarts"] == "supervisor"
    ends = "2 task groups hand off and publish what was read"
    assert verdict["restartsWhat"] == f"{ends}; nothing new starts"


@pytest.mark.parametrize("path", [VALIDATE, DRY_RUN])
def test_a_broker_that_does_not_answer_is_a_finding(world: World, path: str) -> None:
    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer from localhost:9092")

    verdict = judged(world, spec_document(), path)

    assert verdict["valid"] is True
    assert verdict["connect"] == {
        "reachable": False,
        "topics": [],
        "error": "no answer from localhost:9092",
    }


def test_what_has_no_effect_is_told(world: World) -> None:
    world.streams.create(TOPIC, 1)
    wanted = spec_document(period="PT10S")

    warnings = judged(world, wanted)["warnings"]

    assert warnings == world.post(SUPERVISORS, wanted).json()["warnings"]


@pytest.fixture
def caller() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_sample_comes_with_it_if_it_is_asked_for(
    world: World, caller: ThreadPoolExecutor
) -> None:
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 4)
    agent = world.agent("w1")
    agent.sync()
    answer = caller.submit(judged, world, spec_document(), f"{VALIDATE}?sample=3")
    order = sample_order(agent)
    assert order.rows == 3
    records = (sampled_record(0, values={"__time": 5, "user": "a"}),)
    agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id, records=records))

    verdict = answer.result(20)

    assert isinstance(verdict["sample"], dict)
    assert verdict["sample"]["data"][0]["parsed"] == {"__time": 5, "user": "a"}
    assert verdict["sampleError"] is None


def test_a_sample_that_cannot_be_had_is_a_finding(world: World) -> None:
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 4)

    verdict = judged(world, spec_document(), f"{VALIDATE}?sample=3")

    assert (verdict["valid"], verdict["sample"]) == (True, None)
    assert "no worker is connected" in str(verdict["sampleError"])


def test_a_sample_of_too_many_rows_is_refused(world: World) -> None:
    assert world.post(f"{VALIDATE}?sample=5001", spec_document()).status_code == 400


def test_a_follower_sends_to_the_leader(follower: World) -> None:
    assert follower.post(VALIDATE, spec_document()).status_code == 503
    assert follower.post(DRY_RUN, spec_document()).status_code == 503


def test_a_spec_that_says_the_same_restarts_nothing_whatever_is_asked(world: World) -> None:
    """Source: Druid's skipRestartIfUnmodified, which is always so here."""
    world.post(SUPERVISORS, spec_document())
    for skip in ("true", "false"):
        answer = world.post(f"{SUPERVISORS}?skipRestartIfUnmodified={skip}", spec_document())
        assert answer.json()["modified"] is False


def _named(data_source: str, task_count: int = 2) -> Json:
    text = json.dumps(spec_document(task_count))
    wanted: Json = json.loads(
        text.replace(f'"dataSource": "{TOPIC}"', f'"dataSource": "{data_source}"')
    )
    return wanted


def test_a_table_whose_name_differs_in_case_only_from_another_is_refused(world: World) -> None:
    """Goal: SQL takes both for one; nothing is stored, and a dry run says so before."""
    world.streams.create(TOPIC, 1)
    assert world.post(SUPERVISORS, spec_document()).status_code == 200
    wanted = _named(TOPIC.upper())

    judgements = [judged(world, wanted, path) for path in (VALIDATE, DRY_RUN)]
    refused = world.post(SUPERVISORS, wanted)

    assert refused.status_code == 400, refused.text
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/spec/dataSchema/dataSource"
    assert TOPIC in error["hint"]
    assert [(each["valid"], each["errors"]) for each in judgements] == [(False, [error])] * 2
    assert world.get(SUPERVISORS) == [TOPIC]


def test_tables_whose_names_differ_in_case_only_stay_if_they_are_there(world: World) -> None:
    """Goal: an upgrade takes nobody's supervisor away, nor the right to change it."""
    world.streams.create(TOPIC, 1)
    names = TOPIC, TOPIC.upper()
    for name in names:
        spec = read_spec(_named(name)).spec
        with world.store.leading(world.leadership.term()) as tx:
            tx.specs.append(spec.id, spec, world.clock.now(), "early", after=0)

    for name in names:
        assert world.post(SUPERVISORS, _named(name, task_count=1)).status_code == 200
