"""A request with a key acts once.  Source: draft-ietf-httpapi-idempotency-key-header-07.

Slow: each verb is repeated against a living control plane.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from supervisor.core.values.errors import MetadataBusy
from tests.supervisor.api.world import SUPERVISORS, TOPIC, World, a_world, spec_document

CLICKS = f"{SUPERVISORS}/{TOPIC}"
KEY = "9f2c1d5e-0c7d-4f0c-9d0f-0b5a3c1f9a11"


def post(
    world: World, path: str = SUPERVISORS, document: object = None, key: str = KEY, **headers: str
) -> httpx.Response:
    """POST with a key."""
    sent: httpx.Response
    sent = world.client.post(path, json=document, headers={"Idempotency-Key": key} | headers)
    return sent


def versions(world: World) -> int:
    """How many versions are stored."""
    return len(world.get_rows(f"{CLICKS}/history"))


def test_a_repeat_is_answered_alike_and_does_nothing(world: World) -> None:
    world.post(SUPERVISORS, spec_document())
    first = post(world, f"{CLICKS}/suspend")
    world.post(f"{CLICKS}/resume")

    again = post(world, f"{CLICKS}/suspend")

    assert (again.status_code, again.content) == (first.status_code, first.content)
    for name in ("etag", "content-type", "tidegate-operation", "x-content-type-options"):
        assert again.headers[name] == first.headers[name]
    assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (
        None,
        "true",
    )
    assert versions(world) == 3
    assert world.get_object(CLICKS)["suspended"] is False


def test_a_refusal_is_repeated_too(world: World) -> None:
    first = post(world, document={"type": "kafka"})
    again = post(world, document={"type": "kafka"})

    assert (first.status_code, again.status_code) == (400, 400)
    assert again.json() == first.json()
    assert again.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", [SUPERVISORS, f"{SUPERVISORS}?skipRestartIfUnmodified=true"])
def test_another_request_with_the_same_key_is_refused(world: World, path: str) -> None:
    post(world, document=spec_document())

    other = spec_document() if "?" in path else spec_document(replicas=1)
    refused = post(world, path, other)

    assert refused.status_code == 422
    assert refused.json()["type"] == "/problems/idempotency-key-reused"
    assert versions(world) == 1


def test_callers_do_not_share_keys(world: World) -> None:
    world.post(SUPERVISORS, spec_document())
    post(world, f"{CLICKS}/suspend", **{"X-Druid-Author": "ann"})

    assert post(world, f"{CLICKS}/suspend", **{"X-Druid-Author": "bob"}).status_code == 400


@pytest.mark.parametrize("key", ["", "a b", "x" * 201])
def test_what_is_no_key_is_refused_and_nothing_is_done(world: World, key: str) -> None:
    refused = post(world, document=spec_document(), key=key)

    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"] == "/header/Idempotency-Key"
    assert world.get(SUPERVISORS) == []


def test_a_read_takes_no_notice(world: World) -> None:
    assert world.client.get(SUPERVISORS, headers={"Idempotency-Key": "a b"}).status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/v1/supervisors/validate?connect=false", f"{SUPERVISORS}?dryRun=true"]
)
def test_what_changes_nothing_is_not_stored(world: World, path: str) -> None:
    """Goal: no caller fills the database with answers to questions."""
    for _ in range(2):
        answer = post(world, path, spec_document())
        assert (answer.status_code, answer.headers.get("idempotency-replayed")) == (200, None)

    assert post(world, document=spec_document()).status_code == 200, "the key is free"


def test_of_two_at_once_one_acts_and_the_other_is_told_to_wait(
    tmp_path: Path, migrated: Path
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def reach(place: str) -> None:
        if place == "apply:committed":
            inside.set()
            assert go_on.wait(30)

    with a_world(tmp_path, migrated, reach=reach) as world, ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: post(world, document=spec_document()))
        assert inside.wait(30)
        second = post(world, document=spec_document())
        go_on.set()

        assert first.result(30).status_code == 200
        assert (second.status_code, second.headers["retry-after"]) == (409, "1")
        assert second.json()["type"] == "/problems/idempotency-key-in-use"
        assert post(world, document=spec_document()).json() == first.result().json()
        assert versions(world) == 1


@pytest.mark.parametrize("place", ["apply:in-transaction", "apply:committed"])
@pytest.mark.parametrize("error", [MetadataBusy("a test"), RuntimeError("a test")])
def test_a_failure_is_not_stored_and_what_was_done_is_not_done_twice(
    tmp_path: Path, migrated: Path, place: str, error: Exception
) -> None:
    failing = [error]

    def reach(reached: str) -> None:
        if reached == place and failing:
            raise failing.pop()

    with a_world(tmp_path, migrated, reach=reach) as world:
        failed = post(world, document=spec_document())
        again = post(world, document=spec_document())

        assert failed.status_code >= 500
        # Done and not told: the repeat may not act, and has nothing to repeat.
        assert again.status_code == (200 if place == "apply:in-transaction" else 409)
        assert versions(world) == 1


def test_who_does_not_lead_sends_the_caller_on_and_keeps_nothing(follower: World) -> None:
    refused = post(follower, document=spec_document())

    assert refused.status_code == 503
    with follower.store.reading() as tx:
        assert tx.keys.find("", KEY) is None
