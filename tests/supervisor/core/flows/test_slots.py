"""Slots of schedules: each once over 1,000 days, at both changes of the clocks, in any looks."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from supervisor.core.flows.slots import (
    BadSchedule,
    Misfire,
    Schedule,
    check_schedule,
    due_slots,
    first_slot,
    slots_of,
)

ZURICH, NEW_YORK = "Europe/Zurich", "America/New_York"
BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
DAYS = 1_000


def _night(schedule: Schedule, month: int, day: int) -> list[str]:
    """The slots from 1:00 until 3:59 of a night."""
    zone = ZoneInfo(schedule.timezone)
    after = datetime(2026, month, day, 1, tzinfo=zone)
    slots = slots_of(schedule, after, after.replace(hour=3, minute=59))
    return [f"{slot.astimezone(zone):%d %H:%M%z}" for slot in slots]


@pytest.mark.parametrize(
    ("cron", "spring", "autumn"),
    [
        # Both given: once a day, after the gap and at the first of two.
        ("30 2 * * *", ["29 03:00+0200"], ["25 02:30+0200"]),
        ("0,30 2 * * *", ["29 03:00+0200"], ["25 02:00+0200", "25 02:30+0200"]),
        ("0 2,3 * * *", ["29 03:00+0200"], ["25 02:00+0200", "25 03:00+0100"]),
        # A `*`: by the time that passes.
        ("30 * * * *", ["29 01:30+0100", "29 03:30+0200"], 4),
        ("*/30 2 * * *", [], 4),
    ],
)
def test_the_rule_at_changes_of_the_clocks(
    cron: str, spring: list[str], autumn: list[str] | int
) -> None:
    schedule = Schedule(cron, ZURICH)
    assert _night(schedule, 3, 29) == spring
    again = _night(schedule, 10, 25)
    assert (len(again) if isinstance(autumn, int) else again) == autumn


@pytest.mark.parametrize("zone", [ZURICH, NEW_YORK, "Australia/Lord_Howe", "UTC"])
def test_a_time_of_day_comes_once_on_each_of_a_thousand_days(zone: str) -> None:
    """A checker that shares nothing with the library: the days of a calendar, one slot each."""
    slots = list(slots_of(Schedule("30 2 * * *", zone), BEGAN, BEGAN + timedelta(days=DAYS)))
    local = [slot.astimezone(ZoneInfo(zone)) for slot in slots]
    days = [each.date() for each in local]
    assert days == [days[0] + timedelta(days=n) for n in range(len(days))]
    assert days[0] in {date(2025, 1, 1), date(2025, 1, 2)}
    assert len(days) >= DAYS - 1
    moved = [each for each in local if (each.hour, each.minute) != (2, 30)]
    assert all(each.hour == 3 or each.minute == 30 for each in moved)
    assert len(moved) <= 4


@pytest.mark.parametrize("zone", [ZURICH, NEW_YORK])
def test_an_hour_is_an_hour_of_the_time_that_passes(zone: str) -> None:
    slots = list(slots_of(Schedule("0 * * * *", zone), BEGAN, BEGAN + timedelta(days=DAYS)))
    assert slots == [BEGAN + timedelta(hours=n) for n in range(1, DAYS * 24 + 1)]


@pytest.mark.parametrize("zone", [ZURICH, NEW_YORK])
@pytest.mark.parametrize("cron", ["30 2 * * *", "0,30 1,2,3 * * *", "15 * * * *", "0 2 * * SUN"])
@pytest.mark.parametrize("seed", range(2))
def test_looks_at_any_times_by_a_clock_that_jumps_take_each_slot_once(
    zone: str, cron: str, seed: int
) -> None:
    """Leaders change between looks: nothing but the position goes from one to the next."""
    chance = random.Random(f"{zone}{cron}{seed}")
    schedule = Schedule(cron, zone, Misfire.ALL, catch_up=1_000)
    end = BEGAN + timedelta(days=DAYS)
    position = BEGAN
    taken: list[datetime] = []
    for now in _looks(chance, end):
        while True:
            due = due_slots(schedule, position, now)
            assert due.passed == 0
            assert due.position >= position
            taken += due.fire
            position = due.position
            if not due.more:
                break
    assert taken == list(slots_of(schedule, BEGAN, end))


def _looks(chance: random.Random, end: datetime) -> Iterator[datetime]:
    now = BEGAN
    while now < end:
        now += timedelta(seconds=chance.choice([1, 600, 3_600, 40_000, 400_000]))
        now -= timedelta(seconds=chance.choice([0, 0, 0, 5_000]))  # set back
        yield min(now, end)
    yield end


def test_what_nobody_saw_is_made_up_as_the_rule_says() -> None:
    at = [BEGAN + timedelta(minutes=n) for n in range(6)]
    late = at[5] + timedelta(seconds=30)

    def due(misfire: Misfire, catch_up: int = 100) -> tuple[list[datetime], int]:
        given = due_slots(Schedule("* * * * *", "UTC", misfire, catch_up), at[0], late)
        assert given.position == at[5]
        return list(given.fire), given.passed

    assert due(Misfire.ALL) == (at[1:], 0)
    assert due(Misfire.ALL, 2) == (at[4:], 3)
    assert due(Misfire.ONCE) == (at[5:], 4)
    assert due(Misfire.NONE) == (at[5:], 4)  # the newest one is on time
    much = due_slots(Schedule("* * * * *", "UTC", Misfire.NONE), at[0], late + timedelta(hours=1))
    assert len(much.fire) == 1
    daily = Schedule("0 4 * * *", "UTC", Misfire.NONE)
    assert due_slots(daily, at[0], at[0] + timedelta(hours=5)).fire == ()


def test_a_year_of_minutes_is_looked_at_in_bounded_looks() -> None:
    schedule = Schedule("* * * * *", ZURICH, Misfire.ALL, catch_up=150)
    end, position = BEGAN + timedelta(days=30), BEGAN
    fired: list[datetime] = []
    passed = looks = 0
    more = True
    while more:
        due = due_slots(schedule, position, end)
        fired, passed, position, more = (
            [*fired, *due.fire],
            passed + due.passed,
            due.position,
            due.more,
        )
        assert len(due.fire) <= 100
        looks += 1
    assert fired == [end - timedelta(minutes=n) for n in reversed(range(150))]
    assert (passed + 150, looks < 20) == (30 * 24 * 60, True)


@pytest.mark.parametrize(
    ("cron", "zone", "part"),
    [
        ("0 0 30 2 *", "UTC", "cron"),
        ("0 0 31 4,6 *", "UTC", "cron"),
        ("61 * * * *", "UTC", "cron"),
        ("* * * *", "UTC", "cron"),
        ("0 0 0 * * *", "UTC", "cron"),
        ("@daily", "UTC", "cron"),
        ("* " * 200, "UTC", "cron"),
        ("0 0 * * *", "Europe/Zuerich", "timezone"),
        ("0 0 * * *", "../../etc/passwd", "timezone"),
        ("0 0 * * *", "", "timezone"),
    ],
)
def test_what_cannot_be_is_refused_with_its_part(cron: str, zone: str, part: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        check_schedule(Schedule(cron, zone), BEGAN)
    assert refused.value.part == part
    assert refused.value.hint


def test_a_leap_day_is_waited_for() -> None:
    assert first_slot(Schedule("0 0 29 2 *"), BEGAN) == datetime(2028, 2, 29, tzinfo=UTC)
