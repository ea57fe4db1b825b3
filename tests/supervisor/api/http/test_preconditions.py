"""ETag, If-Match and If-None-Match on specs.  Source: RFC 9110, 8.8.3 and 13.1."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.supervisor.api.world import SUPERVISORS, TOPIC, World, spec_document

CLICKS = f"{SUPERVISORS}/{TOPIC}"
VALIDATE = "/api/v1/supervisors/validate"


def post(world: World, path: str, document: object = None, **headers: str) -> httpx.Response:
    """POST with headers; `if_match` becomes If-Match."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent: httpx.Response = world.client.post(path, json=document, headers=named)
    return sent


def etag(world: World) -> str:
    """The tag that GET gives."""
    return str(world.client.get(CLICKS).headers["etag"])


def test_each_answer_that_stores_a_version_gives_the_tag_that_get_gives(world: World) -> None:
    tags = []
    for path in (SUPERVISORS, f"{CLICKS}/suspend", f"{CLICKS}/resume"):
        done = world.post(path, spec_document() if path == SUPERVISORS else None)
        assert done.headers["etag"] == etag(world)
        tags.append(etag(world))

    assert [tag[:3] for tag in tags] == ['"1-', '"2-', '"3-']
    assert world.post(SUPERVISORS, spec_document()).headers["etag"] == tags[-1]


def test_a_get_that_knows_the_newest_version_is_answered_without_it(world: World) -> None:
    world.post(SUPERVISORS, spec_document())
    known = etag(world)

    same = world.client.get(CLICKS, headers={"If-None-Match": f'"other", W/{known}'})
    world.post(SUPERVISORS, spec_document(replicas=1))
    other = world.client.get(CLICKS, headers={"If-None-Match": known})

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", known)
    assert (other.status_code, other.json()["spec"]["ioConfig"]["replicas"]) == (200, 1)


@pytest.mark.parametrize("verb", ["", "/suspend", "/terminate"])
def test_what_was_decided_on_an_older_version_is_refused_and_changes_nothing(
    world: World, verb: str
) -> None:
    world.post(SUPERVISORS, spec_document())
    old = etag(world)
    world.post(SUPERVISORS, spec_document(replicas=1))
    path, document = (CLICKS + verb, None) if verb else (SUPERVISORS, spec_document(replicas=3))

    refused = post(world, path, document, if_match=old)

    problem = refused.json()
    assert (refused.status_code, problem["type"]) == (412, "/problems/precondition-failed")
    assert (problem["version"], problem["etag"]) == (2, etag(world))
    assert "read it again (GET)" in problem["detail"]
    assert len(world.get_rows(f"{CLICKS}/history")) == 2
    assert post(world, path, document, if_match=problem["etag"]).status_code == 200


def test_resume_follows_the_version_too(world: World) -> None:
    world.post(SUPERVISORS, spec_document())
    old = etag(world)
    world.post(f"{CLICKS}/suspend")

    assert post(world, f"{CLICKS}/resume", if_match=old).status_code == 412
    assert post(world, f"{CLICKS}/resume", if_match=etag(world)).status_code == 200


def test_only_if_new_refuses_what_exists_and_takes_up_what_was_terminated(world: World) -> None:
    first = post(world, SUPERVISORS, spec_document(), if_none_match="*")
    again = post(world, SUPERVISORS, spec_document(), if_none_match="*")
    world.post(f"{CLICKS}/terminate")
    revived = post(world, SUPERVISORS, spec_document(), if_none_match="*")

    assert [r.status_code for r in (first, again, revived)] == [200, 412, 200]
    assert "has a spec already, version 1" in again.json()["detail"]


def test_what_is_refused_anyhow_is_refused_for_its_own_reason(world: World) -> None:
    """Source: RFC 9110, 13.2.1."""
    world.post(SUPERVISORS, spec_document())

    assert post(world, f"{SUPERVISORS}/none/suspend", if_match='"1-0"').status_code == 404
    assert post(world, f"{CLICKS}/resume", if_match='"1-0"').status_code == 400


def test_a_tag_without_quotes_is_refused_and_says_how(world: World) -> None:
    answer = post(world, SUPERVISORS, spec_document(), if_match="3")

    [error] = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (400, "/header/If-Match")
    assert "in their quotes" in error["hint"]


def test_of_many_who_change_the_same_version_one_does(world: World) -> None:
    """Goal: it is judged in the transaction that writes, not before."""
    world.post(SUPERVISORS, spec_document())
    known, gate = etag(world), threading.Barrier(8)

    def change(number: int) -> int:
        document = spec_document(replicas=number + 3)
        gate.wait(30)
        return post(world, SUPERVISORS, document, if_match=known).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(change, range(8)))

    assert statuses == [200] + [412] * 7
    assert len(world.get_rows(f"{CLICKS}/history")) == 2


def test_history_tells_the_numbers_of_versions(world: World) -> None:
    world.post(SUPERVISORS, spec_document())
    world.post(f"{CLICKS}/terminate")

    assert [row["versionNumber"] for row in world.get_rows(f"{CLICKS}/history")] == [2, 1]


@pytest.mark.parametrize("path", [f"{SUPERVISORS}?dryRun=true", VALIDATE])
def test_a_dry_run_is_judged_by_them_too(world: World, path: str) -> None:
    sent = world.client.post(path, json=spec_document(), headers={"If-None-Match": "*"})
    assert sent.status_code == 200
    world.post(SUPERVISORS, spec_document())

    again = world.client.post(path, json=spec_document(), headers={"If-None-Match": "*"})

    assert (again.status_code, again.json()["type"]) == (412, "/problems/precondition-failed")
