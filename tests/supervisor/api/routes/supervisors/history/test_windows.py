"""Windows of the history: ranges, plans and versions, of a time, a group, a state."""

from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document, task_ids

BASE = f"/api/v1/supervisors/{TOPIC}"
MINUTE = timedelta(minutes=1)


def rows(world: World, path: str, member: str, query: str = "") -> list[Json]:
    """Every row of all pages, asked in pages of two."""
    every: list[Json] = []
    cursor = ""
    while True:
        page = world.get_object(f"{BASE}/{path}?limit=2{query}{cursor}")
        every += page[member]  # type: ignore[arg-type]
        if page["next"] is None:
            return every
        cursor = f"&cursor={page['next']}"


def hand_off(world: World, groups: list[int]) -> None:
    """Publish what was read of some groups, a minute later."""
    world.clock.advance(MINUTE)
    world.post(f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff", {"taskGroupIds": groups})
    world.settle()


def moment(world: World) -> str:
    return quote(world.clock.now().isoformat())


def two_groups(world: World) -> None:
    """Two groups that have read; the first has handed off once."""
    agents = world.start(partitions=2, task_count=2, replicas=1)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    world.round(agents)
    hand_off(world, [0])
    world.round(agents)


def test_ranges_of_a_group_and_of_a_state(world: World) -> None:
    two_groups(world)
    every = rows(world, "generations", "generations")
    assert [(row["ordinal"], row["group"]) for row in every] == [(3, 0), (2, 1), (1, 0)]

    assert rows(world, "generations", "generations", "&group=1") == [every[1]]
    reading = rows(world, "generations", "generations", "&state=READING")
    assert reading == every[:2]
    both = rows(world, "generations", "generations", "&state=READING&state=PUBLISHING&group=0")
    assert both == [every[0], every[2]]
    assert rows(world, "generations", "generations", "&group=7") == []


def test_a_range_is_in_a_window_if_it_was_live_in_it(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    begun = moment(world)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    world.round(agents)
    hand_off(world, [0])
    world.round(agents)
    [publishing] = rows(world, "generations", "generations", "&state=PUBLISHING")
    attempts = publishing["attempts"]
    assert isinstance(attempts, list)
    holder = next(agent for agent in agents if attempts[0]["taskId"] in agent.held)
    assert holder.publish(attempts[0]["taskId"]).status_code == 200
    world.clock.advance(MINUTE)
    published = moment(world)

    numbers = {
        query: [row["ordinal"] for row in rows(world, "generations", "generations", query)]
        for query in (f"&from={begun}", f"&from={published}", f"&to={begun}", f"&to={published}")
    }
    assert list(numbers.values()) == [[2, 1], [2], [1], [2, 1]]


def test_plans_go_back_page_by_page_and_before_a_time(world: World) -> None:
    two_groups(world)
    every = rows(world, "plans", "plans")
    assert len(every) > 2
    times = [str(row["at"]) for row in every]
    moments = [datetime.fromisoformat(text) for text in times]
    assert moments == sorted(moments, reverse=True)
    middle = times[1]

    before = rows(world, "plans", "plans", f"&before={quote(middle)}")

    assert before == [
        row for row, at in zip(every, moments, strict=True) if at < datetime.fromisoformat(middle)
    ]


def test_versions_have_their_author_kind_operation_and_changes(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    headers = {"X-Druid-Author": "alice"}
    changed = spec_document(task_count=1, replicas=2)
    assert world.client.post(SUPERVISORS, json=changed, headers=headers).status_code == 200
    for verb in ("suspend", "resume", "terminate"):
        path = f"{SUPERVISORS}/{TOPIC}/{verb}"
        assert world.client.post(path, headers=headers).status_code == 200

    versions = rows(world, "history", "versions", "&fields=meta")

    assert [(row["versionNumber"], row["kind"], row["author"]) for row in versions] == [
        (5, "terminated", "alice"),
        (4, "resumed", "alice"),
        (3, "suspended", "alice"),
        (2, "changed", "alice"),
        (1, "created", "anonymous"),
    ]
    assert [row["changed"] for row in versions] == [
        None,
        ["/suspended"],
        ["/suspended"],
        ["/spec/ioConfig/replicas"],
        None,
    ]
    operations = world.get_object(f"/api/v1/operations?supervisor={TOPIC}")["operations"]
    assert isinstance(operations, list)
    assert [row["operationId"] for row in versions] == [each["id"] for each in operations]
    assert versions[3]["effect"] == "hot"


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("generations?from=2026-01-05T12:00:00", "/query/from"),
        ("generations?to=x", "/query/to"),
        ("generations?from=2026-01-05T12:00:00Z&to=2026-01-05T12:00:00Z", "/query/to"),
        ("generations?state=UNKNOWN", "/query/state/0"),
        ("generations?group=-1", "/query/group"),
        ("plans?before=2026-01-05T12:00:00", "/query/before"),
        ("history?fields=spec", "/query/fields"),
        ("history?limit=0", "/query/limit"),
    ],
)
def test_bad_input_is_a_problem_with_its_place(world: World, query: str, pointer: str) -> None:
    world.start()
    answer = world.client.get(f"{BASE}/{query}")
    assert answer.status_code == 400, answer.text
    [error] = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert error["message"]
    assert error["hint"]


@pytest.mark.parametrize("path", ["generations", "plans", "history"])
def test_a_cursor_of_another_list_is_refused(world: World, path: str) -> None:
    two_groups(world)
    other = world.get_object(f"{BASE}/{'plans' if path != 'plans' else 'generations'}?limit=1")
    answer = world.client.get(f"{BASE}/{path}?cursor={other['next']}")
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/bad-cursor")
    assert world.client.get(f"/api/v1/supervisors/never/{path}").status_code == 404


def test_versions_of_a_foreign_table_are_not_listed(tmp_path: Path, migrated: Path) -> None:
    """Goal: a supervisor that moved into a caller's table shows nothing of its past."""
    with a_guarded_world(tmp_path, migrated) as guarded:
        admin = guarded.token("admin", *grants_of(Role.ADMIN, "*"))
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER, OWN))

        def post(table: str) -> None:
            document = spec_document(task_count=1, replicas=1, topic=table) | {"id": "moved"}
            document["spec"]["dataSchema"]["dataSource"] = table  # type: ignore[index]
            assert guarded.ask("POST", SUPERVISORS, admin, document).status_code == 200

        post(FOREIGN)
        guarded.ask("POST", f"{SUPERVISORS}/moved/terminate", admin)
        post(OWN)

        path = "/api/v1/supervisors/moved/history"
        shown = guarded.ask("GET", path, viewer).json()["versions"]
        every = guarded.ask("GET", path, admin).json()["versions"]

    assert [row["versionNumber"] for row in every] == [3, 2, 1]
    assert [row["versionNumber"] for row in shown] == [3]
