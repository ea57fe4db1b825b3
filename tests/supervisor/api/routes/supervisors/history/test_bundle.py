"""The incident bundle over HTTP: what is in it, for whom, and that no secret is."""

import json
import zipfile
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest

from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.values.permissions import Role
from tasks.runtime.secrets import known_secrets
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.routes.supervisors.test_listing import spec_of
from tests.supervisor.api.world import (
    SUPERVISORS,
    TASKS,
    TOPIC,
    Json,
    World,
    spec_document,
    task_ids,
)
from tests.supervisor.cli.overlord import Reply, overlord

PATH = f"/api/v1/supervisors/{TOPIC}/bundle"
SECRET = "s3cr3t-of-the-broker"
PASSWORD = "p4ssw0rd-of-a-text"
NOW = ("explanation", "attention", "row", "status", "partitions", "workers")
PAST = ("events", "ranges", "plans", "operations", "lag", "tasks", "history")


def files_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def bundle(world: World, query: str = "") -> dict[str, bytes]:
    answer = world.client.get(PATH + query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["cache-control"] == "no-store"
    return files_of(answer.content)


def read(files: dict[str, bytes], name: str) -> Json:
    found = json.loads(files[f"{name}.json"])
    assert isinstance(found, dict)
    return found


def test_it_has_each_part_as_the_api_answers_it(world: World) -> None:
    world.watch()
    agents = world.start(partitions=2, task_count=1, replicas=1)
    changed = spec_document(task_count=1, replicas=1, taskDuration="PT20M")
    assert world.post(SUPERVISORS, changed).status_code == 200
    world.round(agents)

    files = bundle(world)

    manifest = read(files, "manifest")
    listed = manifest["files"]
    assert isinstance(listed, list)
    assert {each["name"]: each["sizeBytes"] for each in listed} == {
        name: len(content) for name, content in files.items() if name != "manifest.json"
    }
    assert manifest["missing"] == []
    assert {f"{name}.json" for name in (*NOW, *PAST)} <= files.keys()
    assert {"spec/version-1.json", "spec/version-2.json"} <= files.keys()
    assert b'+      "taskDuration": "PT1200S"' in files["spec/last-change.diff"] or (
        b"taskDuration" in files["spec/last-change.diff"]
    )
    assert read(files, "status") == world.get_object(f"{SUPERVISORS}/{TOPIC}/status")
    events = read(files, "events")["events"]
    assert isinstance(events, list)
    assert "supervisor-created" in {event["type"] for event in events}
    assert read(files, "row")["id"] == TOPIC


def test_its_window_lies_around_the_time_that_is_given(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    began = world.clock.now()
    world.clock.advance(timedelta(hours=3))
    world.settle()

    later = read(bundle(world), "events")["events"]
    then = bundle(world, f"?at={began:%Y-%m-%dT%H:%M:%SZ}&window=PT1M")

    assert isinstance(later, list)
    assert "supervisor-created" not in {event["type"] for event in later}
    events = read(then, "events")["events"]
    assert isinstance(events, list)
    assert "supervisor-created" in {event["type"] for event in events}
    assert read(then, "manifest")["at"] == f"{began:%Y-%m-%dT%H:%M:%S}.000Z"


def test_no_secret_is_in_its_bytes(world: World) -> None:
    """Goal: neither one that this process has read, nor one that its name gives away."""
    known_secrets().learn(SECRET)
    world.watch()
    world.streams.create(TOPIC, 1)
    properties = {"bootstrap.servers": "localhost:9092", "client.id": SECRET}
    document = spec_document(task_count=1, replicas=1, consumerProperties=properties)
    assert world.post(SUPERVISORS, document).status_code == 200
    world.settle()
    text = f"no answer: {SECRET} was refused, sasl.password={PASSWORD}"
    world.streams.fail(StreamTrouble.UNREACHABLE, text)
    for _ in range(4):
        world.pass_time(timedelta(minutes=1), [])

    answer = world.client.get(PATH)

    files = files_of(answer.content)
    whole = answer.content + b"".join(files.values())
    assert b"was refused" in whole, "the text itself is there"
    assert SECRET.encode() not in whole
    assert PASSWORD.encode() not in whole
    for name, content in files.items():
        if name.endswith(".json"):
            json.loads(content)


def test_the_log_of_a_failed_task_is_there_or_a_line_says_why_not(world: World) -> None:
    world.watch()
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    text = f"reads\nsasl.password={PASSWORD}\nended".encode()
    world.journals.logs[task_id] = (agent.held[task_id].wanted.token, text)
    assert world.post(f"{TASKS}/task/{task_id}/shutdown").status_code == 200
    world.round(agents)
    name = f"logs/{task_id}.log"

    log = bundle(world)[name]

    assert log.startswith(b"reads\nsasl.password=***")
    assert log.endswith(b"ended")
    world.journals.silent.add(agent.id)
    manifest = read(bundle(world), "manifest")
    assert [each["name"] for each in manifest["missing"]] == [name]  # type: ignore[attr-defined]
    assert manifest["missing"][0]["why"]  # type: ignore[index]


def test_only_who_may_read_all_its_tables_gets_it(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        world = guarded.world
        own = guarded.token("own", *grants_of(Role.VIEWER))
        with world.store.leading(world.leadership.term()) as tx:
            for table in (OWN, FOREIGN):
                tx.specs.append(table, spec_of(table), world.clock.now(), "ada")

        mine = guarded.ask("GET", f"/api/v1/supervisors/{OWN}/bundle", own)

        assert mine.status_code == 200
        assert FOREIGN.encode() not in b"".join(files_of(mine.content).values())
        for other in (FOREIGN, "nobody"):
            path = f"/api/v1/supervisors/{other}/bundle"
            assert guarded.ask("GET", path, own).status_code == 404
        assert guarded.ask("GET", f"/api/v1/supervisors/{OWN}/bundle").status_code == 401


def test_a_follower_passes_on_the_leader_s_and_alone_gives_what_rows_have(
    follower: World,
) -> None:
    with follower.store.writing() as tx:
        lease = tx.lease.take(None, "two", "http://127.0.0.1:1")
    assert lease is not None
    with follower.store.leading(lease.term) as tx:
        tx.specs.append(TOPIC, spec_of(TOPIC), follower.clock.now(), "ada")

    alone = files_of(follower.client.get(PATH).content)

    missing = read(alone, "manifest")["missing"]
    assert isinstance(missing, list)
    assert {"status.json", "explanation.json"} <= {each["name"] for each in missing}
    assert "spec/version-1.json" in alone
    with overlord() as leader:
        leader.on("GET", PATH, Reply("PK", headers={"Content-Type": "application/zip"}))
        with follower.store.writing() as tx:
            tx.lease.take(lease, "three", leader.url)
        follower.leadership.step()
        assert b"PK" in follower.client.get(PATH).content


@pytest.mark.parametrize(
    "query",
    [
        *("at=2026-01-05T12:00:00", "at=never", "at=0001-01-01T00:00:00Z"),
        *("window=PT25H", "window=x"),
    ],
)
def test_bad_input_is_a_problem_with_its_place(world: World, query: str) -> None:
    world.start(partitions=1, task_count=1, replicas=1)

    answer = world.client.get(f"{PATH}?{query}")

    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["pointer"] == f"/query/{query.partition('=')[0]}"
