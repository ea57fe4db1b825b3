"""Reports in the overview and in a status: behind is said, and nothing turns unhealthy."""

import json
from dataclasses import replace
from datetime import timedelta

from fastapi import FastAPI

from supervisor.ports.reports.persisters import PersisterAnswer, PersisterSilent
from supervisor.reports.store_watch import StoreWatch
from supervisor.reports.watch import PersisterWatch
from supervisor.services.services import Services
from tests.supervisor.api.routes.cluster.overview.answers import items, overview, part
from tests.supervisor.api.world import SUPERVISORS, TOPIC, World

_URL = "http://p-1:8092"


class _Persisters:
    """A persister that answers as a test says."""

    answer: PersisterAnswer | None = None
    """None: it is silent."""

    def status(self, url: str) -> PersisterAnswer:
        if self.answer is None:
            raise PersisterSilent(f"{url} does not answer")
        return self.answer


def _watched(world: World, answer: PersisterAnswer | None, *, looks: bool = True) -> PersisterWatch:
    """Let the overlord watch a persister, which it has asked once."""
    persisters = _Persisters()
    persisters.answer = answer
    watch = PersisterWatch(world.clock, persisters, [_URL])
    app = world.client.app
    assert isinstance(app, FastAPI)
    parts: Services = app.state.parts
    app.state.parts = replace(
        parts,
        overviews=replace(parts.overviews, persisters=watch),
        supervisors=replace(parts.supervisors, persisters=watch),
    )
    if looks:
        watch.run_once()
    return watch


def test_without_a_persister_there_is_no_part_of_the_reports(world: World) -> None:
    assert overview(world)["reports"] is None


def test_a_persister_that_nobody_has_asked_yet_is_configured_all_the_same(world: World) -> None:
    """Goal: a page of dead letters then knows that there is somebody to ask."""
    _watched(world, None, looks=False)

    reports = part(overview(world), "reports")

    assert (reports["persisters"], reports["behindRecords"]) == ([], None)


def test_a_store_that_is_switched_off_is_said(world: World) -> None:
    assert overview(world)["nothingStored"] is None
    app = world.client.app
    assert isinstance(app, FastAPI)
    parts: Services = app.state.parts
    off = replace(parts.overviews, store_watch=StoreWatch(None))
    app.state.parts = replace(parts, overviews=off)

    assert "TIDEGATE_REPORTS=off" in str(overview(world)["nothingStored"])


def test_reports_that_follow_are_a_part_and_no_item(world: World) -> None:
    _watched(world, PersisterAnswer("RUNNING", "", {"t": 4}, {"t": 1.5}, 7, 0))

    reports = part(overview(world), "reports")

    assert (reports["behindRecords"], reports["behindMillis"]) == (4, 2_000)
    assert (reports["late"], reports["deadLetters"], reports["lost"]) == (False, 0, 0)
    assert '"RUNNING"' in json.dumps(reports["persisters"])
    assert items(world) == []


def test_reports_that_are_behind_are_said_and_nothing_turns_unhealthy(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    world.settle()
    _watched(world, PersisterAnswer("RUNNING", "", {"t": 900}, {"t": 600.0}, 7, 2))

    shown = items(world)
    payload = world.payload()

    assert [each["kind"] for each in shown] == ["reports-behind", "dead-letters"]
    assert '"permission": "read"' in json.dumps(shown[1]["remedies"])
    assert "behind by 900 records, the oldest 10 min old" in str(shown[0]["text"])
    assert "behind by 900 records" in str(payload["warnings"])
    assert payload["healthy"] is True
    assert world.client.get(f"{SUPERVISORS}/{TOPIC}/health").json() == {"healthy": True}
    assert part(overview(world), "supervisors")["unhealthy"] == 0


def test_a_silent_persister_is_an_item_after_a_minute(world: World) -> None:
    watch = _watched(world, None)
    assert items(world) == []

    world.clock.advance(timedelta(minutes=1))
    watch.run_once()

    [item] = items(world)
    assert (item["kind"], item["severity"]) == ("persister-silent", "at-risk")
    assert part(overview(world), "reports")["behindRecords"] is None
