"""Triggers over both databases: each slot and each publish once, whoever leads and dies when."""

import random
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta

import pytest

from supervisor.core.flows.slots import Schedule, slots_of
from supervisor.core.flows.stored_triggers import StoredTrigger, slot_name
from supervisor.core.values.errors import LeaseLost
from supervisor.ports.flows.triggers import FIRINGS_KEPT
from tests.conformance.executions.leaders import (
    BOSS,
    SLEEPS,
    JumpingClock,
    Killed,
    Leaders,
    OneLeader,
    named_in,
)

BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
EACH = {"name": "seen", "type": "published", "table": "table"}
MANY = {**EACH, "mode": "coalesced"}
ZONES = {"zurich": "Europe/Zurich", "york": "America/New_York"}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)])
def leaders(request: pytest.FixtureRequest) -> Iterator[Leaders]:
    """Leaders over fresh databases of each kind."""
    metadata = str(request.getfixturevalue(f"{request.param}_url"))
    executions = str(request.getfixturevalue(f"executions_{request.param}_url"))
    with closing(Leaders(metadata, executions, JumpingClock(BEGAN))) as both:
        yield both


def _apply(leader: OneLeader, name: str, *triggers: object, **fields: object) -> None:
    document = {"flow": name, "steps": [SLEEPS], "triggers": list(triggers), **fields}
    leader.flows.apply(document, BOSS)


def _trigger(leader: OneLeader, flow: str, name: str) -> StoredTrigger:
    with leader.executions.reading() as rows:
        found = rows.triggers.find(flow, name)
    assert found is not None
    return found


def _dies() -> None:
    raise Killed


def test_two_leaders_fire_once_per_publish_and_name_each_once(leaders: Leaders) -> None:
    """300 publishes; leaders change, die between the two commits, and are overtaken there."""
    chance = random.Random("publishes")
    leader = leaders.next()
    leader.publish("before", at=BEGAN)
    _apply(leader, "each", EACH)
    _apply(leader, "many", MANY)
    published: list[str] = []
    deaths = overtaken = 0
    while len(published) < 300:
        ids = [f"g{len(published) + n}" for n in range(chance.randrange(1, 12))]
        leader.publish(*ids, at=leaders.clock.now())
        published += ids
        leaders.clock.advance(timedelta(seconds=chance.choice([0, 1, 20])))
        match chance.randrange(4):
            case 0:
                leader.at_point = _dies
                with suppress(Killed):
                    leader.work()
                    raise AssertionError("there was a batch")
                leader, deaths = leaders.next(), deaths + 1
            case 1:  # frozen between the commits, while the next one does all the work
                rival: list[OneLeader] = []

                def _overtakes(rival: list[OneLeader] = rival) -> None:
                    if not rival:
                        rival.append(leaders.next())
                        assert rival[0].work()

                leader.at_point = _overtakes
                assert not leader.work()
                leader, overtaken = rival[0], overtaken + 1
            case _:
                assert leader.work()
    for _ in range(4):
        leaders.clock.advance(timedelta(minutes=1))
        assert leader.work()

    assert min(deaths, overtaken) >= 5
    each, many = leaders.all_of("each"), leaders.all_of("many")
    assert len(each) == len(published)
    assert named_in(each) == named_in(many) == sorted(published)
    assert {str(one.id) for one in each} == {f"each:seen:{name}" for name in published}
    assert 1 < len(many) < len(published) / 2
    assert _trigger(leader, "many", "seen").waiting == 0
    assert _trigger(leader, "each", "seen").fired == len(published)


def test_a_batch_that_comes_again_fires_for_nothing_from_before_the_definition(
    leaders: Leaders,
) -> None:
    """Another flow watches already, so publishes of before are in the batch of the definition."""
    leader = leaders.next()
    _apply(leader, "first", EACH)
    leader.publish("before", at=BEGAN)
    _apply(leader, "second", EACH)
    leader.publish("behind", at=BEGAN)
    leader.at_point = _dies

    with suppress(Killed):
        leader.work()
        raise AssertionError("there was a batch")
    assert leaders.next().work()

    assert named_in(leaders.all_of("first")) == ["before", "behind"]
    assert named_in(leaders.all_of("second")) == ["behind"]


def test_each_slot_of_a_thousand_days_is_once_with_leaders_that_change(leaders: Leaders) -> None:
    """Two zones over their changes of the clocks; the clock of a leader may be set back."""
    chance = random.Random("slots")
    leader = leaders.next()
    cron = {"cron": "30 2 * * *", "misfire": "all", "catchUp": 1_000}
    nightly = [
        {"name": name, "type": "schedule", "timezone": zone, **cron} for name, zone in ZONES.items()
    ]
    document = {"flow": "day", "steps": [{"name": "s", "type": "set", "values": {}}]}
    leader.flows.apply({**document, "triggers": nightly}, BOSS)
    end = BEGAN + timedelta(days=1_000)
    while leaders.clock.now() < end:
        step = timedelta(hours=chance.choice([30, 400, 900]))
        leaders.clock.advance(min(step, end - leaders.clock.now()))
        assert leader.work()
        if chance.randrange(3) == 0:
            old, leader = leader, leaders.next()
            leaders.clock.back = timedelta(hours=chance.choice([0, 0, 26]))
            assert leader.work()
            with suppress(LeaseLost):  # it does not know yet, and finds nothing or is refused
                assert not old.triggers.run_due()
            leaders.clock.back = timedelta(0)

    for name, zone in ZONES.items():
        wanted = [slot_name(slot) for slot in slots_of(Schedule("30 2 * * *", zone), BEGAN, end)]
        fired = [one.id for one in leaders.all_of("day") if one.trigger["name"] == name]
        assert sorted(fired) == [f"day:{name}:{slot}" for slot in wanted]
        trigger = _trigger(leader, "day", name)
        assert (trigger.fired, trigger.passed, trigger.problem) == (len(wanted), 0, "")


def test_what_waits_is_named_when_the_execution_before_has_ended(leaders: Leaders) -> None:
    leader = leaders.next()
    _apply(leader, "many", MANY)
    leader.publish("a", at=BEGAN)
    leader.work()
    leader.publish("b", "c", at=BEGAN)
    leader.work()
    assert _trigger(leader, "many", "seen").waiting == 2
    assert len(leaders.all_of("many")) == 1

    leaders.clock.advance(timedelta(seconds=31))
    leader.work()  # the sleep is over
    leader.work()

    newest, first = leaders.all_of("many")
    assert (named_in([first]), named_in([newest])) == (["a"], ["b", "c"])
    assert "publish" in first.trigger
    assert "publish" not in newest.trigger


def test_a_pause_passes_by_and_an_error_is_said_until_it_fires(leaders: Leaders) -> None:
    leader = leaders.next()
    inputs = [{"name": "n", "type": "integer"}]
    trigger = {**EACH, "inputs": {"n": "${ trigger.publish.nothing }"}}
    _apply(leader, "each", trigger, inputs=inputs)
    leader.publish("a", at=BEGAN)
    leader.work()
    seen = _trigger(leader, "each", "seen")
    assert (seen.fired, seen.passed) == (0, 1)
    assert "nothing" in seen.problem

    _apply(leader, "each", {**trigger, "inputs": {"n": "${ trigger.rows }"}}, inputs=inputs)
    with leader.executions.working(leader.term) as rows:
        rows.triggers.put(_trigger(leader, "each", "seen").with_pause("boss", BEGAN))
    leader.publish("b", at=BEGAN)
    leader.work()
    assert _trigger(leader, "each", "seen").problem == "it is paused"
    with leader.executions.working(leader.term) as rows:
        rows.triggers.put(_trigger(leader, "each", "seen").with_pause(None, BEGAN))
    leader.publish("c", at=BEGAN)
    leader.work()

    [one] = leaders.all_of("each")
    assert (named_in([one]), one.inputs) == (["c"], {"n": 10})
    seen = _trigger(leader, "each", "seen")
    assert (seen.fired, seen.passed, seen.problem) == (1, 2, "")


def test_a_deleted_flow_has_no_triggers_and_one_of_a_new_version_begins_anew(
    leaders: Leaders,
) -> None:
    leader = leaders.next()
    _apply(leader, "many", MANY)
    leader.publish("a", at=BEGAN)
    leader.work()
    leader.publish("b", at=BEGAN)
    leader.work()
    _apply(leader, "many", {**MANY, "table": "other"})
    leader.work()
    assert _trigger(leader, "many", "seen").waiting == 0
    leader.flows.delete("many", BOSS)
    leaders.clock.advance(timedelta(minutes=1))
    leader.publish("c", at=BEGAN)
    leader.work()
    with leader.executions.reading() as rows:
        assert rows.triggers.of_flow("many") == []
    assert named_in(leaders.all_of("many")) == ["a"]


def test_old_firings_go_and_those_that_wait_stay(leaders: Leaders) -> None:
    leader = leaders.next()
    _apply(leader, "many", MANY)
    leader.publish("first", at=BEGAN)
    leader.work()
    count = FIRINGS_KEPT + 150
    leader.publish(*(f"g{n}" for n in range(count)), at=BEGAN)
    leader.work()
    assert _trigger(leader, "many", "seen").waiting == count
    while _trigger(leader, "many", "seen").waiting:
        leaders.clock.advance(timedelta(minutes=1))
        leader.work()
    leader.publish("last", at=BEGAN)
    leader.work()
    assert len(named_in(leaders.all_of("many"))) == len({*named_in(leaders.all_of("many"))})
    assert len(named_in(leaders.all_of("many"))) >= count + 1
    with leader.executions.reading() as rows:
        assert len(rows.triggers.firings("many", "seen", 10_000)) <= FIRINGS_KEPT + 1


def test_a_deposed_leader_changes_no_trigger(leaders: Leaders) -> None:
    old = leaders.next()
    _apply(old, "day", {"name": "n", "type": "schedule", "cron": "0 * * * *"})
    leader = leaders.next()
    leaders.clock.advance(timedelta(hours=2))
    assert leader.work()
    leaders.clock.advance(timedelta(hours=2))
    with pytest.raises(LeaseLost):
        old.triggers.run_due()
    assert len(leaders.all_of("day")) == 1
