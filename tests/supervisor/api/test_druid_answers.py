"""What a running Druid 33 answered to these requests, asked of us: status codes and members.

`druid_answers.json` holds each request with the status and the members of its answer; `*` stands
for members that are named by ids.  What differs on purpose is listed here, with its reason.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import httpx
from pydantic import JsonValue

from tests.supervisor.api.agents import TOPIC, Agent
from tests.supervisor.api.world import World, task_ids

SAMPLES: dict[str, dict[str, JsonValue]] = json.loads(
    Path(__file__).with_name("druid_answers.json").read_text()
)
OTHER_STATUS = {
    "invalid-not-json": (400, "a body that is not JSON is the caller's mistake"),
    "invalid-unknown-field": (400, "a field that nobody reads is a slip of the pen"),
    "supervisor-reset-offsets-wrong-stream": (400, "the caller's mistake, as in later versions"),
    "supervisor-handoff": (202, "as in later versions: it is asked for, not done"),
}
"""Sample -> our status code, and why it is another one."""

_IDLE = "a field of a spec without a meaning here; shown if it was given"
_SCHEDULING = "how Druid's tasks find each other and their locks"
_NEVER_READ = "there were no offsets yet: the topic does not exist"
LEFT_OUT = {
    **dict.fromkeys(
        (
            *("appendableIndexSpec", "bitmap", "chatRetries", "emitTimeLagMetrics"),
            *("handoffConditionTimeout", "httpTimeout", "indexSpecForIntermediatePersists"),
            *("intermediatePersistPeriod", "longEncoding", "maxBytesInMemory"),
            *("maxColumnsToMerge", "maxPendingPersists", "maxRowsInMemory", "metricCompression"),
            *("numPersistThreads", "offsetFetchPeriod", "pollTimeout", "shutdownTimeout"),
            *("repartitionTransitionDuration", "segmentWriteOutMediumFactory", "workerThreads"),
            *("skipBytesInMemoryOverheadCheck", "stringDictionaryEncoding"),
        ),
        _IDLE,
    ),
    **dict.fromkeys(
        (
            *("IS_INCREMENTAL_HANDOFF_SUPPORTED", "forceTimeChunkLock", "configOverrides"),
            *("useLineageBasedSegmentAllocation", "refreshRejectionPeriodsInMinutes"),
            *("startPartitions", "endPartitions"),
        ),
        _SCHEDULING,
    ),
    **dict.fromkeys(("latestOffsets", "offsetsLastUpdated"), _NEVER_READ),
}
"""Member of a success that we do not have -> why."""


class Story:
    """Asks the samples' requests when the world is as Druid's was."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.answers: dict[str, httpx.Response] = {}

    def ask(self, name: str, task_id: str = "") -> httpx.Response:
        """Ask one of them; `task_id` stands in the place of the sample's."""
        request = SAMPLES[name]["request"]
        assert isinstance(request, dict)
        path = str(request["path"]).replace("/samples", f"/{TOPIC}")
        parts = path.split("/")
        if task_id:
            path = "/".join(task_id if part.startswith("index_kafka_") else part for part in parts)
        headers = request.get("headers", {"Content-Type": "application/json"})
        assert isinstance(headers, dict)
        body = request.get("body")
        content = {"invalid-not-json": "{not json", "invalid-content-type": "{}"}.get(name, "")
        if body is not None:
            content = _ours(json.dumps(body))
        answer: httpx.Response = self.world.client.request(
            str(request["method"]),
            path,
            content=content if request["method"] == "POST" else None,
            headers={k: str(v) for k, v in headers.items()} if content else None,
        )
        self.answers[name] = answer
        return answer


def _ours(text: str) -> str:
    """Return a request's body with the names that this world knows."""
    return text.replace("127.0.0.1:", "localhost:").replace('"samples"', f'"{TOPIC}"')


def _play(world: World) -> Story:
    story = Story(world)
    world.streams.create(TOPIC, 2)
    assert story.ask("supervisor-create").status_code == 200, story.answers
    story.ask("supervisor-status-pending")
    agents = [world.agent("w1"), world.agent("w2")]
    for agent in agents:
        agent.sync()
    world.settle(TOPIC)
    story.ask("supervisor-status-tasks-starting")
    _reads(story, agents)
    _is_unhealthy(story)
    _publishes(story, agents)
    _is_changed(story, agents)
    for name in SAMPLES:
        if name.startswith("invalid-") or name.endswith(("-unknown-id", "-missing-type")):
            story.ask(name)
    return story


def _round(world: World, agents: list[Agent]) -> None:
    for _ in range(3):
        for agent in agents:
            agent.sync()
        world.settle(TOPIC)


def _reads(story: Story, agents: list[Agent]) -> None:
    world = story.world
    _round(world, agents)
    for partition in (0, 1):
        world.streams.append(TOPIC, partition, 2_000)
    for number, (agent, task_id) in enumerate(task_ids(agents)):
        agent.read(task_id, 1_004, rejected=3 * number)
    world.clock.advance(timedelta(seconds=5))
    _round(world, agents)
    for name in ("get", "list", "list-full", "list-state", "health", "stats", "parse-errors"):
        story.ask(f"supervisor-{name}")
    agent, one = next(task_ids(agents))
    world.journals.logs[one] = (agent.held[one].wanted.token, b"one line\n" * 200)
    for name in ("task-list", "task-get", "task-report-running", "task-log", "workers"):
        story.ask(name, one)


def _is_unhealthy(story: Story) -> None:
    world = story.world
    request = SAMPLES["supervisor-create"]["request"]
    assert isinstance(request, dict)
    document = json.loads(_ours(json.dumps(request["body"])).replace(f'"{TOPIC}"', '"no-topic"'))
    assert world.post("/druid/indexer/v1/supervisor", document).status_code == 200
    for _ in range(4):
        world.clock.advance(timedelta(minutes=1))
        world.settle("no-topic")
    story.ask("supervisor-status-unhealthy")
    story.ask("supervisor-health-unhealthy")


def _publishes(story: Story, agents: list[Agent]) -> None:
    world = story.world
    story.ask("supervisor-handoff")
    _round(world, agents)
    _round(world, agents)  # and the ends are told
    story.ask("supervisor-status-publishing")
    ended = [
        (agent, task_id)
        for agent, task_id in task_ids(agents)
        if agent.held[task_id].wanted.order.end is not None and not agent.held[task_id].rejected
    ]
    agent, task_id = ended[0]
    published = agent.publish(task_id)
    assert published.status_code == 200, published.text
    _round(world, agents)
    story.ask("task-report-success", task_id)


def _is_changed(story: Story, agents: list[Agent]) -> None:
    world = story.world
    _, running = next(task_ids(agents))
    story.ask("task-shutdown", running)
    story.ask("task-status-failed", running)
    story.ask("task-list-complete")
    _round(world, agents)
    for name in ("reset-offsets-wrong-stream", "reset-offsets", "reset"):
        story.ask(f"supervisor-{name}")
        _round(world, agents)
    for name in ("suspend", "suspend-again", "status-suspended", "resume", "terminate", "history"):
        story.ask(f"supervisor-{name}")


def test_every_request_is_answered_with_druids_status(world: World) -> None:
    story = _play(world)
    assert story.answers.keys() == SAMPLES.keys()
    wanted = {name: sample["status"] for name, sample in SAMPLES.items()}
    wanted |= {name: status for name, (status, _) in OTHER_STATUS.items()}
    found = {name: answer.status_code for name, answer in story.answers.items()}
    assert found == wanted


def test_every_member_of_a_success_is_there_or_listed_as_left_out(world: World) -> None:
    story = _play(world)
    missing = {
        f"{name}: {place}"
        for name, sample in SAMPLES.items()
        if sample["members"] is not None and name not in OTHER_STATUS
        for place in _missing(sample["members"], story.answers[name].json(), "")
    }
    unexplained = {one for one in missing if one.rpartition("/")[2] not in LEFT_OUT}
    assert unexplained == set()
    assert {one.rpartition("/")[2] for one in missing} == LEFT_OUT.keys(), "these are there now"


def _missing(members: JsonValue, answer: object, place: str) -> Iterator[str]:
    """Tell which members an answer does not have."""
    if isinstance(members, Mapping):
        if not isinstance(answer, dict):
            yield f"{place} is no object"
        elif "*" in members:
            if not answer:
                yield f"{place}/* is empty"
            for name, value in answer.items():
                yield from _missing(members["*"], value, f"{place}/*" if name else place)
        else:
            for name, value in members.items():
                if name not in answer:
                    yield f"{place}/{name}"
                elif answer[name] is not None:
                    yield from _missing(value, answer[name], f"{place}/{name}")
    elif isinstance(members, list):
        if not isinstance(answer, list):
            yield f"{place} is no array"
        elif members:
            for value in answer:
                yield from _missing(members[0], value, f"{place}[]")
