"""Flows by the API: versions are appended, and none is lost."""

from typing import cast

import httpx
import pytest

from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json, World

STEP = {"name": "pack", "type": "noop"}


def test_a_change_makes_a_version_and_an_equal_flow_makes_none(running: Running) -> None:
    world = running.world
    first = world.post("/api/v1/flows?reason=first", {"flow": "day", "steps": [STEP]}).json()
    again = world.post("/api/v1/flows", {"steps": [STEP], "flow": "day"}).json()
    other = world.post("/api/v1/flows", {"flow": "day", "steps": [STEP], "timeout": "PT1H"}).json()

    assert [one["changed"] for one in (first, again, other)] == [True, False, True]
    assert [one["flow"]["version"] for one in (first, again, other)] == [1, 1, 2]
    assert first["flow"]["reason"] == "first"
    versions = world.get_object("/api/v1/flows/day/versions")["versions"]
    assert [one["version"] for one in cast("list[Json]", versions)] == [2, 1]
    assert world.get_object("/api/v1/flows/day/versions/1")["document"] == {
        "flow": "day",
        "steps": [STEP],
    }


def test_a_rollback_is_a_new_version_and_a_deleted_flow_starts_nothing(running: Running) -> None:
    world = running.world
    running.apply(flow="day", steps=[STEP])
    running.apply(flow="day", steps=[STEP], timeout="PT1H")
    back = world.post("/api/v1/flows/day/versions/1/rollback").json()
    assert (back["flow"]["version"], back["flow"]["document"].get("timeout")) == (3, None)

    deleted = world.client.delete("/api/v1/flows/day").json()

    assert (deleted["version"], deleted["document"]) == (4, None)
    assert world.get_object("/api/v1/flows/day", 404)["type"] == "/problems/flow-not-found"
    assert world.post("/api/v1/flows/day/executions", {}).status_code == 404
    assert world.get_object("/api/v1/flows")["flows"] == []
    assert running.apply(flow="day", steps=[STEP])["version"] == 5


def test_every_error_of_a_flow_is_named_at_once_and_nothing_is_stored(running: Running) -> None:
    world = running.world
    bad = {"flow": "day", "steps": [{"name": "a", "type": "nop"}, {**STEP, "after": ["b"]}]}
    for path in ("/api/v1/flows", "/api/v1/flows/validate"):
        refused = world.post(path, bad)
        assert (refused.status_code, refused.json()["type"]) == (400, "/problems/invalid-flow")
        assert refused.json()["errors"]
    assert world.get_object("/api/v1/flows")["flows"] == []
    assert world.post("/api/v1/flows/validate", {"flow": "d", "steps": [STEP]}).json() == {
        "flow": "d"
    }


def test_without_a_database_flows_are_unavailable_and_the_rest_goes_on(world: World) -> None:
    answer = world.get_object("/api/v1/flows", 503)
    assert answer["type"] == "/problems/execution-store-unavailable"
    assert "TIDEGATE_EXECUTIONS_URL" in str(answer["detail"])
    assert world.get_object("/api/v1/overview")


def test_flows_are_listed_by_name_in_pages(running: Running) -> None:
    for name in ("c", "a", "b"):
        running.apply(flow=name, steps=[STEP])
    page = running.world.get_object("/api/v1/flows?limit=2")
    assert [one["flow"] for one in cast("list[Json]", page["flows"])] == ["a", "b"]
    rest = running.world.get_object(f"/api/v1/flows?limit=2&after={page['next']}")
    assert [one["flow"] for one in cast("list[Json]", rest["flows"])] == ["c"]
    assert rest["next"] is None


def test_two_versions_are_compared_the_newest_with_the_one_before_it(running: Running) -> None:
    for timeout in ("PT1H", "PT2H", "PT3H"):
        running.apply(flow="day", steps=[STEP], timeout=timeout)
    world = running.world
    newest = world.get_object("/api/v1/flows/day/diff")
    all_of_it = world.get_object("/api/v1/flows/day/diff?from=1&to=3")

    assert newest == {
        "flow": "day",
        "old": 2,
        "new": 3,
        "differences": [{"place": "timeout", "old": "PT2H", "new": "PT3H"}],
    }
    assert all_of_it["differences"] == [{"place": "timeout", "old": "PT1H", "new": "PT3H"}]
    assert world.get_object("/api/v1/flows/day/diff?from=2&to=2")["differences"] == []
    for missing in ("day/diff?to=1", "day/diff?from=9", "none/diff"):
        answer = world.get_object(f"/api/v1/flows/{missing}", 404)
        assert answer["type"] == "/problems/flow-not-found"


def test_a_flow_of_more_than_256_kib_is_refused_with_its_size(running: Running) -> None:
    world = running.world
    large = {"name": "a", "type": "set", "values": {"x": "x" * 256 * 1024}}
    for path, body in (
        ("/api/v1/flows", {"flow": "day", "steps": [large]}),
        ("/api/v1/flows/validate", {"flow": "day", "steps": [large]}),
        ("/api/v1/flows/plan", {"flow": {"flow": "day", "steps": [large]}, "inputs": {}}),
    ):
        refused = world.post(path, body)
        assert refused.status_code == 400, path
        [error] = refused.json()["errors"]
        assert "at most 262144 (256 KiB)" in error["message"]
        assert "subflow" in error["hint"]


def test_the_check_knows_the_secrets_of_webhooks_as_the_apply_does(running: Running) -> None:
    hook = {"name": "door", "type": "webhook", "secret": "TIDEGATE_SECRET_NOWHERE"}
    for path in ("/api/v1/flows", "/api/v1/flows/validate"):
        refused = running.world.post(path, {"flow": "day", "steps": [STEP], "triggers": [hook]})
        assert refused.status_code == 400
        assert refused.json()["errors"][0]["pointer"] == "/triggers/0/secret"


def _tag(running: Running) -> str:
    return str(running.world.client.get("/api/v1/flows/day").headers["etag"])


def test_a_get_that_knows_the_version_is_answered_without_it(running: Running) -> None:
    world = running.world
    stored = world.post("/api/v1/flows", {"flow": "day", "steps": [STEP]})
    known = _tag(running)
    assert (stored.headers["etag"], known[:3]) == (known, '"1-')

    for path in ("/api/v1/flows/day", "/api/v1/flows/day/versions/1"):
        same = world.client.get(path, headers={"If-None-Match": f'"other", W/{known}'})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", known)
    running.apply(flow="day", steps=[STEP], timeout="PT1H")
    other = world.client.get("/api/v1/flows/day", headers={"If-None-Match": known})
    assert (other.status_code, other.json()["version"]) == (200, 2)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/flows"),
        ("POST", "/api/v1/flows/day/versions/1/rollback"),
        ("DELETE", "/api/v1/flows/day"),
    ],
)
def test_what_was_decided_on_an_older_version_is_refused_and_changes_nothing(
    running: Running, method: str, path: str
) -> None:
    running.apply(flow="day", steps=[STEP])
    old = _tag(running)
    running.apply(flow="day", steps=[STEP], timeout="PT1H")
    body = {"flow": "day", "steps": [STEP], "timeout": "PT3H"}

    def ask(tag: str) -> httpx.Response:
        answer: httpx.Response = running.world.client.request(
            method, path, json=body, headers={"If-Match": tag}
        )
        return answer

    refused = ask(old)

    problem = refused.json()
    assert (refused.status_code, problem["type"]) == (412, "/problems/precondition-failed")
    assert (problem["version"], problem["etag"]) == (2, _tag(running))
    assert "read it again (GET)" in problem["detail"]
    assert running.world.get_object("/api/v1/flows/day")["version"] == 2
    assert ask(problem["etag"]).status_code == 200
    versions = running.world.get_object("/api/v1/flows/day/versions")["versions"]
    assert len(cast("list[Json]", versions)) == 3


def test_a_flow_is_created_only_where_there_is_none(running: Running) -> None:
    body = {"flow": "day", "steps": [STEP]}

    def ask(**headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer: httpx.Response = running.world.client.post(
            "/api/v1/flows", json=body, headers=named
        )
        return answer

    nothing = ask(If_Match="*")
    assert nothing.status_code == 412
    assert "has no flow that If-Match could name" in nothing.json()["detail"]
    assert ask(If_None_Match="*").status_code == 200
    there = ask(If_None_Match="*")
    assert there.status_code == 412
    assert "has a flow already, version 1" in there.json()["detail"]
    running.world.client.delete("/api/v1/flows/day").raise_for_status()
    assert ask(If_None_Match="*").status_code == 200  # a deleted one counts as none
    assert ask(If_Match="1").status_code == 400
