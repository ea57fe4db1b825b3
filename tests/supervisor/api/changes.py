"""Each change of the API, made ready: what has to be there before, its path and its body."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from supervisor.core.queue.events import encode
from tests.supervisor.api.routes.cluster.test_queues import EVENT, PATH, add, kill, set_aside
from tests.supervisor.api.routes.supervisors.test_resets import reading
from tests.supervisor.api.routes.tables.test_compaction import COMPACT, RULE, publish_two
from tests.supervisor.api.routes.tables.test_quarantine import PATH as QUARANTINE
from tests.supervisor.api.routes.tables.test_quarantine import Raw
from tests.supervisor.api.routes.tables.test_quarantine import publish as publish_bad
from tests.supervisor.api.routes.tables.test_segments import DRUID, FORGET, OURS, publish
from tests.supervisor.api.routes.tasks.submitted import TASK, task_document
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, World, spec_document, task_ids

OF_SUPERVISOR = f"{SUPERVISORS}/{TOPIC}"
Call = tuple[str, object]
"""Path and body."""
Story = Callable[[World], Call]


def _started(path: str, body: object = None) -> Story:
    def story(world: World) -> Call:
        world.start()
        return path, body

    return story


def _after(path: str, before: str, body: object = None) -> Story:
    def story(world: World) -> Call:
        world.start()
        assert world.post(before).status_code == 200
        return path, body

    return story


def _reading(path: str, body: object = None) -> Story:
    def story(world: World) -> Call:
        reading(world)
        return path, body

    return story


def _published(path: str, body: object = None, *, out: bool = False) -> Story:
    def story(world: World) -> Call:
        publish(world)
        if out:
            assert world.client.delete(DRUID).status_code == 200
        return path, body

    return story


def _compacting(world: World) -> Call:
    publish_two(world)
    [begun] = world.post(COMPACT, {}).json()["compactions"]
    return f"/api/v1/compactions/{begun['id']}/cancel", None


def _small_files(world: World) -> Call:
    publish_two(world)
    return COMPACT, {}


def _a_rule(world: World) -> Call:
    publish(world)
    assert world.client.put(RULE, json={}).status_code == 200
    return RULE, None


def _kept_for(world: World) -> Call:
    publish(world)
    assert world.client.put(f"{OURS}/retention", json={"keepFor": "P3000D"}).status_code == 200
    return f"{OURS}/retention", None


def _set_aside(route: str) -> Story:
    def story(world: World) -> Call:
        add(world)
        set_aside(world, 7, encode(EVENT))
        return f"{PATH}/{route}", None

    return story


def _dead_queue(world: World) -> Call:
    add(world)
    kill(world)
    return f"{PATH}/repair", None


def _two_versions(world: World) -> Call:
    world.start()
    assert world.post(f"{OF_SUPERVISOR}/suspend").status_code == 200
    return f"/api/v1/supervisors/{TOPIC}/rollback", {"version": 1}


def _bad_records(world: World) -> Call:
    world.start()
    publish_bad(world, world.database.parent, 1, [Raw(3, b"{")])
    return f"{QUARANTINE}/replay", {"topic": f"{TOPIC}-again"}


def _terminated(world: World) -> Call:
    agents, _ = publish(world)
    assert world.post(f"{OF_SUPERVISOR}/terminate").status_code == 200
    world.settle()
    world.round(agents)
    world.settle()
    return FORGET, None


def a_task(world: World) -> Call:
    [(_, task_id)] = task_ids(world.start(partitions=1, task_count=1, replicas=1))
    return f"{TASKS}/task/{task_id}/shutdown", None


def _lost_worker(world: World) -> Call:
    first, _ = world.start(partitions=2, task_count=2, replicas=1)
    for _ in range(3):
        world.pass_time(timedelta(hours=10), [first])
    world.round([first])
    return f"{TASKS}/worker/w2/forget", None


def _disabled(world: World) -> Call:
    world.agent("w1").sync()
    assert world.post(f"{TASKS}/worker/w1/disable").status_code == 200
    return f"{TASKS}/worker/w1/enable", None


def _a_worker(world: World) -> Call:
    world.agent("w1").sync()
    return f"{TASKS}/worker/w1/disable", None


def _new(world: World) -> Call:
    world.streams.create(TOPIC, 1)
    return SUPERVISORS, spec_document()


def _new_task(world: World) -> Call:
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 20)
    return TASK, task_document()


OFFSETS = {
    "type": "kafka",
    "partitions": {"type": "end", "stream": TOPIC, "partitionOffsetMap": {"0": 3}},
}
_V1, _MARK = "/druid/indexer/v1", {"interval": "2026-01-05T12:00Z/2026-01-05T13:00Z"}
GROUPS = {"taskGroupIds": [0]}
STORIES: Mapping[tuple[str, str], Story] = {
    ("post", "/api/v1/compactions/{compaction}/cancel"): _compacting,
    ("post", "/api/v1/datasources/{data_source}/compact"): _small_files,
    ("put", "/api/v1/datasources/{data_source}/compaction"): _published(RULE, {}),
    ("delete", "/api/v1/datasources/{data_source}/compaction"): _a_rule,
    ("put", "/api/v1/datasources/{data_source}/retention"): _published(
        f"{OURS}/retention", {"keepFor": "P3000D"}
    ),
    ("delete", "/api/v1/datasources/{data_source}/retention"): _kept_for,
    ("post", "/api/v1/queues/{container}/{name}/failed/replay"): _set_aside("failed/replay"),
    ("delete", "/api/v1/queues/{container}/{name}/failed/{seq}"): _set_aside("failed/7"),
    ("post", "/api/v1/queues/{container}/{name}/failed/{seq}/replay"): _set_aside(
        "failed/7/replay"
    ),
    ("post", "/api/v1/queues/{container}/{name}/repair"): _dead_queue,
    ("post", "/api/v1/supervisors/{supervisor_id}/forget"): _terminated,
    ("post", "/api/v1/supervisors/{supervisor_id}/quarantine/replay"): _bad_records,
    ("post", "/api/v1/supervisors/{supervisor_id}/rollback"): _two_versions,
    ("delete", f"{_V1}/datasources/{{data_source}}"): _published(DRUID),
    ("post", f"{_V1}/datasources/{{data_source}}"): _published(DRUID, out=True),
    ("post", f"{_V1}/datasources/{{data_source}}/markUnused"): _published(
        f"{DRUID}/markUnused", _MARK
    ),
    ("post", f"{_V1}/datasources/{{data_source}}/markUsed"): _published(
        f"{DRUID}/markUsed", _MARK, out=True
    ),
    ("post", f"{_V1}/datasources/{{data_source}}/shutdownAllTasks"): _started(
        f"{DRUID}/shutdownAllTasks"
    ),
    ("post", SUPERVISORS): _new,
    ("post", f"{SUPERVISORS}/resumeAll"): _after(
        f"{SUPERVISORS}/resumeAll", f"{OF_SUPERVISOR}/suspend"
    ),
    ("post", f"{SUPERVISORS}/suspendAll"): _started(f"{SUPERVISORS}/suspendAll"),
    ("post", f"{SUPERVISORS}/terminateAll"): _started(f"{SUPERVISORS}/terminateAll"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/reset"): _reading(f"{OF_SUPERVISOR}/reset"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/resetOffsets"): _reading(
        f"{OF_SUPERVISOR}/resetOffsets", OFFSETS
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/resetToLatestAndBackfill"): _reading(
        f"{OF_SUPERVISOR}/resetToLatestAndBackfill"
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/resume"): _after(
        f"{OF_SUPERVISOR}/resume", f"{OF_SUPERVISOR}/suspend"
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/shutdown"): _started(f"{OF_SUPERVISOR}/shutdown"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/suspend"): _started(f"{OF_SUPERVISOR}/suspend"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/taskGroups/handoff"): _reading(
        f"{OF_SUPERVISOR}/taskGroups/handoff", GROUPS
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/terminate"): _started(f"{OF_SUPERVISOR}/terminate"),
    ("post", TASK): _new_task,
    ("post", f"{TASK}/{{task_id}}/shutdown"): a_task,
    ("post", f"{TASKS}/worker/{{host}}/disable"): _a_worker,
    ("post", f"{TASKS}/worker/{{host}}/enable"): _disabled,
    ("post", f"{TASKS}/worker/{{host}}/forget"): _lost_worker,
}
