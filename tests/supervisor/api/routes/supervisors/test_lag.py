"""Lag in records and in time: in the status, over a day, as metrics; and changes of state."""

from datetime import timedelta

from supervisor.control.state_recorder import StateRecorder
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document, task_ids
from tests.waiting import wait_until

PATH = f"/api/v1/supervisors/{TOPIC}/lag"
SECOND = timedelta(seconds=1)


def samples(world: World, query: str = "") -> list[Json]:
    found = world.get_object(PATH + query)["samples"]
    assert isinstance(found, list)
    return found


def grow(world: World, watching: StateRecorder, by: int) -> None:
    """Let ten seconds pass, and records come."""
    world.clock.advance(10 * SECOND)
    world.streams.append(TOPIC, 0, by)
    world.settle()
    watching.after_pass(TOPIC)


def test_lag_in_time_is_told_from_how_the_log_grew(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    watching = world.watching
    watching.after_pass(TOPIC)
    grow(world, watching, 100)

    now = world.payload()
    assert (now["aggregateLag"], now["minimumLag"]) == (100, {"0": 100})
    age = now["aggregateLagMillis"]
    assert isinstance(age, int)
    assert 10_000 <= age < 11_000, "the first of them came right after the look before"
    assert now["minimumLagMillis"] == {"0": age}
    metrics = world.client.get("/metrics").text
    assert f'tidegate_supervisor_lag_records{{supervisor="{TOPIC}"}} 100.0' in metrics
    assert f'tidegate_supervisor_lag_seconds{{supervisor="{TOPIC}"}}' in metrics


def test_each_task_tells_how_old_its_oldest_unread_record_is(world: World) -> None:
    """Source: Druid 39's `lagMillis`.  Goal: of two replicas each has its own; null at first."""
    agents = world.start(partitions=1, task_count=1, replicas=2)
    watching = world.watching
    assert [task["lagMillis"] for task in _active(world)] == [{"0": 0}, {"0": 0}]
    world.streams.append(TOPIC, 0, 50)
    world.settle()
    watching.after_pass(TOPIC)
    world.round(agents)
    assert [task["lagMillis"] for task in _active(world)] == [{"0": None}, {"0": None}]
    grow(world, watching, 50)
    (fast, task_id), (slow, other_id) = task_ids(agents)
    fast.read(task_id, 100)
    slow.read(other_id, 75)
    world.round(agents)

    lags = {task["id"]: task["lagMillis"] for task in _active(world)}

    assert lags[task_id] == {"0": 0}
    assert world.payload()["minimumLagMillis"] == {"0": 0}
    late = lags[other_id]
    assert isinstance(late, dict)
    assert 5_000 <= late["0"] < 6_000, "half of what came in ten seconds is not read"


def _active(world: World) -> list[Json]:
    found = world.payload()["activeTasks"]
    assert isinstance(found, list)
    return found


def test_what_came_since_the_last_pass_has_an_age(world: World) -> None:
    """Goal: a status never tells of records that are not read, and of no lag in time."""
    world.start(partitions=1, task_count=1, replicas=1)
    world.watching.after_pass(TOPIC)
    world.clock.advance(10 * SECOND)
    world.streams.append(TOPIC, 0, 100)

    now = world.payload()

    assert now["aggregateLag"] == 100
    assert isinstance(now["aggregateLagMillis"], int)
    assert 10_000 <= now["aggregateLagMillis"] < 11_000


def test_what_lies_beyond_a_fixed_range_is_no_lag(world: World) -> None:
    """Goal: a backfill that has read all is not behind for ever."""
    world.streams.create(TOPIC, 1)
    bounds = {"startSequenceNumbers": {"0": 0}, "endSequenceNumbers": {"0": 0}}
    document = spec_document(boundedStreamConfig=bounds)
    assert world.post(SUPERVISORS, document).status_code == 200
    world.settle()
    world.watching.after_pass(TOPIC)
    grow(world, world.watching, 100)

    now = world.payload()

    assert (now["state"], now["minimumLag"]) == ("COMPLETED", {"0": 0})
    assert (now["minimumLagMillis"], now["aggregateLagMillis"]) == ({"0": 0}, 0)


def test_a_day_of_samples_is_kept_and_shown_in_steps(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    watching = world.watching
    for minute in range(4):
        grow(world, watching, minute)
        watching.sample()
        world.clock.advance(50 * SECOND)

    assert [each["records"] for each in samples(world)] == [0, 1, 3, 6]
    assert [each["records"] for each in samples(world, "?step=PT1H")] == [6]
    first = samples(world)[0]["at"]
    assert [each["records"] for each in samples(world, f"?to={first}")] == []
    for _ in range(2):
        world.clock.advance(timedelta(hours=11, minutes=59))
        world.leadership.step()
    watching.sample()
    with world.store.reading() as tx:
        kept = tx.watched.lag(TOPIC, world.clock.now() - timedelta(days=9), world.clock.now())
    assert len(kept) < 5, "what is older than a day is gone"


def test_questions_that_make_no_sense_are_refused(world: World) -> None:
    world.start()
    for query in ("step=PT1S", "step=x", "from=yesterday", "from=2026-01-05T12:00:00"):
        assert world.client.get(f"{PATH}?{query}").status_code == 400, query
    assert world.client.get("/api/v1/supervisors/never/lag").status_code == 404


def states(world: World) -> list[object]:
    events = world.get_object(f"/api/v1/events?supervisor={TOPIC}")["events"]
    assert isinstance(events, list)
    changed = [e["detail"] for e in events if e["type"] == "state-changed"]
    return [each["detailedState"] for each in changed][::-1]


def test_a_change_of_state_is_an_event_and_what_lasts_is_none(world: World) -> None:
    world.watch()
    world.start()
    wait_until(lambda: states(world)[-1:] == ["RUNNING"])
    before = states(world)
    world.settle()
    assert states(world) == before
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    wait_until(lambda: states(world) == [*before, "SUSPENDED"])
    with world.store.reading() as tx:
        stored = tx.watched.state(TOPIC)
    assert stored is not None
    assert stored.detailed == "SUSPENDED"
