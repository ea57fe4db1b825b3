"""Druid's sampler: its form, what a worker is told, and what becomes of its answer."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from supervisor.services.supervisors.sampler import AT_ONCE_MAX
from tasks.contract.ingest_spec import Column, Discovery
from tasks.contract.messages import SyncResponse
from tasks.contract.sample import DesiredSample, SampleAnswer, SampledRecord
from tasks.runtime.secrets import known_secrets
from tests.security.leaks import BY_NAME, BY_VALUE, CANARY, SECRET
from tests.supervisor.api.agents import Agent
from tests.supervisor.api.world import TOPIC, Json, World, spec_document
from tests.waiting import wait_until

HALF = r'{"user":"\ud83d"}'
"""A record with half a surrogate pair, which no answer can hold but as it was sent."""

SAMPLER = "/druid/indexer/v1/sampler"
COLUMNS = (Column(name="user"), Column(name="bytes", type="long"))


def body(spec: object = None, **config: object) -> Json:
    """A request to the sampler: a whole spec, flat, unless another is given."""
    whole = spec_document()["spec"]
    assert isinstance(whole, dict)
    found: Json = {"type": "kafka", "spec": {"type": "kafka", **whole} if spec is None else spec}
    return found | ({"samplerConfig": config} if config else {})


def flat(**sections: object) -> Json:
    source = {"topic": TOPIC, "consumerProperties": {"bootstrap.servers": "localhost:9092"}}
    return {"type": "kafka", "ioConfig": source} | sections


def sampled_record(offset: int, **facts: object) -> SampledRecord:
    return SampledRecord.model_validate(
        {"topic": TOPIC, "partition": 0, "offset": offset, "input": '{"user":"a"}'} | facts
    )


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(AT_ONCE_MAX + 1) as pool:
        yield pool


@pytest.fixture
def agent(world: World) -> Agent:
    """A worker that is connected, and a topic with ten records."""
    world.streams.create(TOPIC, 2)
    world.streams.append(TOPIC, 0, 10)
    connected = world.agent("w1")
    connected.sync()
    return connected


def sample_order(agent: Agent) -> DesiredSample:
    """What the agent is told to look at, once it is."""

    def ordered() -> bool:
        agent.sync()
        return bool(agent.samples)

    wait_until(ordered)
    return agent.samples[0]


def request_sample(
    world: World, callers: ThreadPoolExecutor, wanted: Json
) -> "Future[httpx.Response]":
    return callers.submit(world.post, SAMPLER, wanted)


def test_a_sample_is_read_by_a_worker_and_shown_as_druid_shows_it(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    """Source: Druid's SamplerResponse; nulls are left out, as Druid does."""
    answer = request_sample(world, callers, body(numRows=3))
    order = sample_order(agent)
    records = (
        sampled_record(0, values={"__time": 5, "user": "a", "bytes": None}),
        sampled_record(1, input="no JSON", reason="not-json"),
        sampled_record(2, reason="filtered", thrown_away=True),
        sampled_record(3, reason="unfit-value", detail="bytes: a long was expected"),
        sampled_record(4, input=HALF, reason="not-json"),
    )
    found = SampleAnswer(sample_id=order.sample_id, records=records, columns=COLUMNS)
    assert agent.answer_sample(order, found).json() == {"taken": True}

    response = answer.result(20)

    assert response.status_code == 200, response.text
    shown = response.json()
    data = shown.pop("data")
    place = {"topic": TOPIC, "partition": 0}
    assert data == [
        place | {"offset": 0, "input": {"user": "a"}, "parsed": records[0].values},
        place
        | {"offset": 1, "input": {"raw": "no JSON"}, "unparseable": True}
        | {"error": "not-json", "reason": "not-json"},
        place | {"offset": 2, "input": {"user": "a"}, "reason": "filtered"},
        place
        | {"offset": 3, "input": {"user": "a"}, "unparseable": True, "reason": "unfit-value"}
        | {"error": "unfit-value: bytes: a long was expected"},
        place
        | {"offset": 4, "input": {"raw": HALF}, "unparseable": True}
        | {"error": "not-json", "reason": "not-json"},
    ]
    names = [each["name"] for each in shown.pop("logicalDimensions")]
    assert names == [each["name"] for each in shown.pop("physicalDimensions")] == ["user", "bytes"]
    schema = {"__time": "LONG", "user": "STRING", "bytes": "LONG"}
    assert shown == {
        "numRowsRead": 5,
        "numRowsIndexed": 1,
        "logicalSegmentSchema": [{"name": n, "type": t} for n, t in schema.items()],
    }


def test_a_worker_is_told_what_to_read_and_what_it_is_no_more(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    answer = request_sample(
        world, callers, body(numRows=7, timeoutMs=20_000, maxBytesInMemory=1_000)
    )
    order = sample_order(agent)

    assert (order.rows, order.newest, order.size_bytes) == (7, False, 1_000)
    assert {p.partition: end for p, end in order.latest.items()} == {0: 10, 1: 0}
    assert order.spec.data_source == TOPIC
    assert 0 < order.within.total_seconds() <= 20
    agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id))
    assert answer.result(20).status_code == 200
    agent.sync()
    assert agent.samples == ()
    assert agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id)).status_code == 404


def test_a_sample_wakes_the_long_poll_of_its_worker(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    polled = callers.submit(agent.post, agent.request(wait_s=15))
    answer = request_sample(world, callers, body())

    agent.obey(SyncResponse.from_json(polled.result(10).content))

    [order] = agent.samples
    agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id))
    assert answer.result(20).status_code == 200


def test_the_newest_records_are_read_unless_the_spec_begins_at_the_earliest(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    answer = request_sample(world, callers, body(flat()))
    order = sample_order(agent)
    assert order.newest
    agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id))
    answer.result(20)


def test_a_range_that_is_read_once_is_sampled_within_its_bounds(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    spec = spec_document(
        useEarliestOffset=None,
        boundedStreamConfig={"startSequenceNumbers": {"0": 2}, "endSequenceNumbers": {"0": 5}},
    )
    answer = request_sample(world, callers, body(spec))
    order = sample_order(agent)
    assert (list(order.earliest.values()), list(order.latest.values())) == ([2], [5])
    assert not order.newest
    agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id))
    answer.result(20)


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("spec", [None, flat()])
def test_an_empty_topic_is_no_error(world: World, spec: Json | None) -> None:
    world.streams.create(TOPIC, 2)

    response = world.post(SAMPLER, body(spec))

    assert response.status_code == 200, response.text
    assert response.json()["data"] == []
    assert response.json()["numRowsRead"] == 0


def test_without_an_input_format_records_are_shown_as_they_are(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    """Goal: a topic can be looked at before anything of its table is known."""
    answer = request_sample(world, callers, body(flat()))
    order = sample_order(agent)
    assert (order.spec.columns, order.spec.discovery) == ((), Discovery.NOTHING)
    records = (
        sampled_record(0, values={"__time": 0, "user": "a"}),
        sampled_record(1, input="x,y", reason="not-json"),
        sampled_record(2, input=None, reason="null-value", thrown_away=True),
    )
    agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id, records=records))

    shown = answer.result(20).json()

    place = {"topic": TOPIC, "partition": 0}
    assert shown["data"] == [
        place | {"offset": 0, "input": {"user": "a"}},
        place | {"offset": 1, "input": {"raw": "x,y"}},
        place | {"offset": 2, "input": None},
    ]
    assert (shown["numRowsRead"], shown["numRowsIndexed"]) == (3, 0)


def test_without_a_timestamp_rows_have_no_time(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    spec = flat()
    spec["ioConfig"] = {**flat()["ioConfig"], "inputFormat": {"type": "json"}}  # type: ignore[dict-item]
    answer = request_sample(world, callers, body(spec))
    order = sample_order(agent)
    assert order.spec.timestamp.missing_value is not None
    record = sampled_record(0, values={"__time": 0, "user": "a"})
    found = SampleAnswer(sample_id=order.sample_id, records=(record,), columns=COLUMNS[:1])
    agent.answer_sample(order, found)

    shown = answer.result(20).json()

    assert shown["data"][0]["parsed"] == {"user": "a"}
    assert shown["logicalSegmentSchema"] == [{"name": "user", "type": "STRING"}]


def test_what_a_worker_cannot_read_is_a_400_with_its_reason(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    answer = request_sample(world, callers, body())
    order = sample_order(agent)
    why = "sample: topic is gone"
    agent.answer_sample(order, SampleAnswer(sample_id=order.sample_id, failure=why))

    response = answer.result(20)

    assert (response.status_code, response.json()["error"]) == (400, why)


@pytest.mark.parametrize("why", [BY_NAME, BY_VALUE])
def test_why_a_sample_failed_is_told_without_secrets(
    why: str, world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    known_secrets().learn(SECRET)
    answer = request_sample(world, callers, body())
    order = sample_order(agent)
    failed = SampleAnswer(sample_id=order.sample_id).model_copy(update={"failure": why})
    assert CANARY in failed.to_json()
    agent.answer_sample(order, failed)

    response = answer.result(20)

    assert response.status_code == 400
    assert CANARY not in response.text


def test_an_answer_needs_the_token_of_its_sample(
    world: World, agent: Agent, callers: ThreadPoolExecutor
) -> None:
    answer = request_sample(world, callers, body())
    order = sample_order(agent)
    sample = SampleAnswer(sample_id=order.sample_id)
    wrong = agent.answer_sample(order.model_copy(update={"token": "another"}), sample)
    other = agent.answer_sample(order, sample.model_copy(update={"sample_id": "another"}))
    assert (wrong.status_code, other.status_code) == (403, 400)
    assert not answer.done()
    agent.answer_sample(order, sample)
    assert answer.result(20).status_code == 200


def test_a_worker_that_does_not_answer_is_a_503(world: World, agent: Agent) -> None:
    response = world.post(SAMPLER, body(timeoutMs=1))

    assert response.status_code == 503
    assert "w1 did not answer" in response.json()["error"]
    agent.sync()
    assert agent.samples == ()


def test_without_a_worker_there_is_no_sample(world: World) -> None:
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 1)

    response = world.post(SAMPLER, body())

    assert response.status_code == 503
    assert response.json()["type"] == "/problems/no-worker"


@pytest.mark.usefixtures("agent")
def test_samples_are_bounded_in_number(world: World, callers: ThreadPoolExecutor) -> None:
    waiting = [
        request_sample(world, callers, body(timeoutMs=3_000)) for _ in range(AT_ONCE_MAX + 1)
    ]

    answers = [each.result(20).json()["type"] for each in waiting]

    assert sorted(answers) == ["/problems/sample-unanswered"] * AT_ONCE_MAX + [
        "/problems/too-many-looks"
    ]
    assert world.post(SAMPLER, body(timeoutMs=1)).json()["type"] == "/problems/sample-unanswered"


def test_a_topic_that_is_not_there_is_a_400(world: World) -> None:
    response = world.post(SAMPLER, body())

    assert response.status_code == 400
    assert "does not exist" in response.json()["error"]


def test_a_follower_sends_to_the_leader(follower: World) -> None:
    assert follower.post(SAMPLER, body()).status_code == 503


@pytest.mark.parametrize(
    ("wanted", "pointer", "message"),
    [
        ({}, "/type", "type is required"),
        ({"type": "kafka"}, "/spec", "spec is required"),
        (body() | {"type": "kinesis"}, "/type", "no sampler kinesis"),
        (body([]), "/spec", "must be an object"),
        (body({"ioConfig": {}}), "/spec/type", "type is required"),
        (body({"type": "kafka"}), "/spec/ioConfig", "ioConfig is required"),
        (body({"type": "kafka", "ioConfig": {}}), "/spec/ioConfig/topic", "topic is required"),
        (body(flat(ioConfigs={})), "/spec/ioConfigs", "unknown field"),
        (body(flat(dataSchema=[])), "/spec/dataSchema", "must be an object"),
        (body() | {"samplerconfig": {}}, "/samplerconfig", "unknown field"),
        (body() | {"samplerConfig": 7}, "/samplerConfig", "must be an object"),
        (body(numRow=1), "/samplerConfig/numRow", "unknown field"),
        (body(numRows=5_001), "/samplerConfig/numRows", "5000"),
        (body(numRows=0), "/samplerConfig/numRows", "1"),
        (body(numRows="3"), "/samplerConfig/numRows", "whole number"),
        (body(timeoutMs=60_001), "/samplerConfig/timeoutMs", "60000"),
        (body(maxBytesInMemory="1MiB"), "/samplerConfig/maxBytesInMemory", "whole number"),
    ],
)
def test_a_request_that_is_wrong_names_the_field(
    world: World, wanted: Json, pointer: str, message: str
) -> None:
    """Source: Druid 33.0.0, for the inner type; what Druid ignores is refused."""
    response = world.post(SAMPLER, wanted)

    assert response.status_code == 400
    errors = response.json()["errors"]
    assert [message in e["message"] for e in errors if e["pointer"] == pointer] == [True], errors
    assert response.json()["error"] == response.json()["detail"]
