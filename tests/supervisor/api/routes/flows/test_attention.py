"""Flows in the overview: what failed, what is due and not worked in, a database that is away."""

from datetime import timedelta

from fastapi import FastAPI

from supervisor.executions.flow_watch import FlowWatch
from tests.supervisor.api.routes.cluster.overview.answers import items
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import World

MINUTE = timedelta(minutes=1)


def watch_of(world: World) -> FlowWatch:
    app = world.client.app
    assert isinstance(app, FastAPI)
    watch = app.state.parts.overviews.flow_watch
    assert isinstance(watch, FlowWatch)
    return watch


def kinds(world: World) -> list[object]:
    return [each["kind"] for each in items(world)]


def test_a_failed_execution_is_an_item_for_a_day(running: Running) -> None:
    world, watch = running.world, watch_of(running.world)
    running.apply(flow="bad", steps=[{"name": "no", "type": "fail", "message": "not today"}])
    execution = running.start("bad")
    running.wait_for(execution, "FAILED")
    assert kinds(world) == []
    watch.run_once()

    [item] = items(world)
    assert (item["kind"], item["severity"]) == ("executions-failed", "to-know")
    assert f"{execution} (not today)" in str(item["text"])

    world.clock.advance(timedelta(days=1, seconds=1))
    world.leadership.step()
    watch.run_once()
    assert kinds(world) == []


def test_what_is_due_and_not_worked_in_is_broken(running: Running) -> None:
    """Goal: a duty of the leader that stands still is seen; none runs here."""
    world, watch = running.world, watch_of(running.world)
    running.apply(flow="rest", steps=[{"name": "rest", "type": "sleep", "duration": "PT10S"}])
    running.wait_for(running.start("rest"), "RUNNING")
    watch.run_once()
    assert kinds(world) == []

    world.clock.advance(MINUTE + timedelta(seconds=10))
    world.leadership.step()

    [item] = items(world)
    assert (item["kind"], item["severity"]) == ("flows-stand-still", "broken")


def test_a_database_that_is_away_for_a_minute_is_at_risk_and_its_end_ends_the_item(
    world: World,
) -> None:
    watch = watch_of(world)
    watch.run_once()  # nobody has made it
    assert kinds(world) == []
    world.clock.advance(MINUTE)
    world.leadership.step()
    watch.run_once()

    [item] = items(world)
    assert (item["kind"], item["severity"]) == ("flows-stand-still", "at-risk")
    assert "TIDEGATE_EXECUTIONS_URL" in str(item["text"])
    watch.forget()
    assert kinds(world) == []
