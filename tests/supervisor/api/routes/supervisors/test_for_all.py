"""Verbs for all supervisors at once.  Source: Druid's SupervisorResource."""

from typing import cast

import pytest

from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.history.operations import OperationKind
from supervisor.core.spec.reader import read_spec
from supervisor.services.services import Services
from supervisor.services.supervisors.bulk import BulkVerbs
from tasks.contract.offsets import TopicPartition
from tests.conformance.stories import opening
from tests.supervisor.api.routes.supervisors.test_listing import counted
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document

DONE = {"status": "success"}
NAMES = ("one", "two", "three")


def _store_three(world: World) -> None:
    for name in NAMES:
        document = spec_document()
        assert world.post(SUPERVISORS, document | {"id": name}).status_code == 200


def _suspended(world: World) -> dict[object, object]:
    return {row["id"]: row["suspended"] for row in world.get_rows(f"{SUPERVISORS}?full=true")}


def _audited(world: World, action: str) -> list[tuple[str, str]]:
    with world.store.reading() as tx:
        return sorted((e.subject, e.actor) for e in tx.audit.recent(100) if e.action == action)


def test_all_are_suspended_and_resumed_each_with_its_own_audit_row(world: World) -> None:
    """Goal: those that stand so already are passed over, without a new version."""
    _store_three(world)
    assert world.post(f"{SUPERVISORS}/two/suspend").status_code == 200

    answer = world.client.post(f"{SUPERVISORS}/suspendAll", headers={"X-Druid-Author": "ann"})

    assert (answer.status_code, answer.json()) == (200, DONE)
    assert _suspended(world) == dict.fromkeys(NAMES, True)
    assert _audited(world, "suspend") == [("one", "ann"), ("three", "ann"), ("two", "anonymous")]
    assert world.post(f"{SUPERVISORS}/suspendAll").json() == DONE
    assert len(_audited(world, "suspend")) == 3

    assert world.post(f"{SUPERVISORS}/resumeAll").json() == DONE

    assert _suspended(world) == dict.fromkeys(NAMES, False)
    assert len(world.get_rows(f"{SUPERVISORS}/two/history")) == 3


def test_all_are_terminated(world: World) -> None:
    _store_three(world)

    answer = world.post(f"{SUPERVISORS}/terminateAll")

    assert (answer.status_code, answer.json()) == (200, DONE)
    assert world.get(SUPERVISORS) == []
    assert [subject for subject, _ in _audited(world, "terminate")] == sorted(NAMES)


@pytest.mark.parametrize("verb", ["suspendAll", "resumeAll", "terminateAll"])
def test_where_there_is_none_it_is_a_success(world: World, verb: str) -> None:
    answer = world.post(f"{SUPERVISORS}/{verb}")

    assert (answer.status_code, answer.json()) == (200, DONE)


@pytest.mark.parametrize("verb", ["suspendAll", "resumeAll", "terminateAll"])
def test_only_the_leader_does_it(follower: World, verb: str) -> None:
    answer = follower.post(f"{SUPERVISORS}/{verb}")

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


# -- previews --------------------------------------------------------------------------------------


def _shown(world: World, verb: str) -> Json:
    answer = world.post(f"{SUPERVISORS}/{verb}?dryRun=true")
    assert answer.status_code == 200
    return cast("Json", answer.json())


def _items(preview: Json) -> dict[str, Json]:
    return {str(item["id"]): item for item in cast("list[Json]", preview["items"])}


def test_the_preview_has_each_that_would_change_as_its_own_preview_has_it(world: World) -> None:
    world.start()
    _store_three(world)
    world.post(f"{SUPERVISORS}/two/suspend")
    for name in NAMES:
        world.settle(name)

    suspends, resumes, terminates = (
        _shown(world, verb) for verb in ("suspendAll", "resumeAll", "terminateAll")
    )

    assert sorted(_items(suspends)) == sorted({"clicks", "one", "three"})
    assert sorted(_items(resumes)) == ["two"]
    assert sorted(_items(terminates)) == sorted({"clicks", *NAMES})
    assert (suspends["id"], suspends["verb"]) == ("*", "suspend")
    ranges = 0
    for supervisor_id, item in _items(suspends).items():
        alone = world.post(f"{SUPERVISORS}/{supervisor_id}/suspend?dryRun=true").json()
        assert {name: alone[name] for name in item} == item
        ranges += len(alone["publishes"])
    text = f"3 supervisors are suspended; {ranges} ranges are published first."
    assert (suspends["text"], ranges > 1) == (text, True)


@pytest.mark.parametrize("verb", ["suspendAll", "resumeAll", "terminateAll"])
def test_a_thousand_are_previewed_by_the_statements_of_one(world: World, verb: str) -> None:
    """Goal: whoever asks waits for a few queries, not for one of each supervisor."""
    suspended = verb == "resumeAll"
    _store_with_ranges(world, ["s0000"], suspended=suspended)
    with counted(world) as alone:
        assert len(_items(_shown(world, verb))) == 1
    _store_with_ranges(world, [f"s{n:04}" for n in range(1, 1_000)], suspended=suspended)

    with counted(world) as together:
        preview = _shown(world, verb)

    assert len(_items(preview)) == 1_000
    assert len(together) - len(alone) <= 3, "a further statement for each so many parameters"
    if not suspended:
        assert "1,000 ranges are published first" in str(preview["text"])


def _store_with_ranges(world: World, names: list[str], *, suspended: bool) -> None:
    """Store supervisors with a live range each, without a request and without a pass."""
    spec = read_spec(spec_document(task_count=1, replicas=1)).spec
    with world.store.leading(world.leadership.term()) as tx:
        for name in names:
            named = spec.model_copy(update={"id": name, "suspended": suspended})
            tx.specs.append(name, named, world.clock.now(), "ada")
            start = {TopicPartition(TOPIC, 0): 0}
            tx.offsets.initialise(name, "topic-id", start)
            assert tx.generations.open(
                name, TOPIC, opening(f"{name}:1", 1, start), world.clock.now()
            )


def test_with_a_digest_it_says_whom_it_has_changed(world: World) -> None:
    _store_three(world)
    shown = _shown(world, "suspendAll")

    done = world.post(f"{SUPERVISORS}/suspendAll?expect={shown['digest']}").json()

    assert done == DONE | {"changed": sorted(NAMES), "left": []}
    assert _suspended(world) == dict.fromkeys(NAMES, True)


def test_a_supervisor_that_came_since_the_preview_is_not_changed_unread(world: World) -> None:
    """Goal: neither it nor any other one is changed before somebody has read the new preview."""
    _store_three(world)
    shown = _shown(world, "terminateAll")
    world.post(SUPERVISORS, spec_document() | {"id": "four"})

    answer = world.post(f"{SUPERVISORS}/terminateAll?expect={shown['digest']}")

    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (409, "/problems/preview-outdated")
    assert "every supervisor" in problem["detail"]
    assert sorted(_items(problem["preview"])) == sorted({"four", *NAMES})
    assert len(world.get_rows(f"{SUPERVISORS}?full=true")) == 4


def test_one_that_changes_before_its_turn_is_left_alone(world: World) -> None:
    """Goal: each one is bound to what was shown of it, also after the whole was held against it."""
    _store_three(world)
    shown = _shown(world, "suspendAll")
    parts = cast("Services", world.client.app.state.parts)  # type: ignore[attr-defined]  # a FastAPI

    class Meanwhile(BulkVerbs):
        def foresee(self, verb: OperationKind) -> Foreseen:
            now = super().foresee(verb)
            world.post(f"{SUPERVISORS}/two/suspend")
            world.post(f"{SUPERVISORS}/three/terminate")
            return now

    done = Meanwhile(parts.service, parts.foresight).suspend("ann", str(shown["digest"]))

    assert (done.changed, done.left) == (("one",), ("three", "two"))
    assert _audited(world, "suspend") == [("one", "ann"), ("two", "anonymous")]
