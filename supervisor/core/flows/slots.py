"""The slots of a schedule: the moments at which it fires, as a function of its rule alone.

The rule at changes of the clocks is Debian cron's, as `cronsim` has it.  A schedule whose minute
and hour are both given fires once on each of its days: a time that the clocks skip fires at the end
of the gap, a time that comes twice fires the first time.  A schedule with `*` as its minute or hour
goes by the time that passes: nothing falls into a gap, and an hour that comes twice counts twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError

from supervisor.core.values.field_types import nearest, shown

__all__ = [
    "CATCH_UP_MAX",
    "BadSchedule",
    "DueSlots",
    "Misfire",
    "Schedule",
    "check_schedule",
    "due_slots",
    "first_slot",
    "slots_of",
]

_FIELDS = 5
_LENGTH_MAX = 200
CATCH_UP_MAX = 1_000
"""Missed slots that are made up at most."""
_LOOKED_AT = 5_000
"""Slots that one look counts; further ones wait for the next look."""
FIRED_AT_ONCE = 100
"""Executions that one look starts for one trigger."""
LATE = timedelta(minutes=1)
"""A slot that is older than this when it is looked at was missed."""


class BadSchedule(Exception):
    """A schedule that cannot be; `part` is the field that is wrong, `hint` what to do."""

    def __init__(self, part: str, message: str, hint: str = "") -> None:
        self.part = part
        self.hint = hint
        super().__init__(message)


class Misfire(StrEnum):
    """What becomes of slots that nobody saw: each is made up, one stands for all, or none is."""

    ALL = "all"
    ONCE = "once"
    NONE = "none"


@dataclass(frozen=True)
class Schedule:
    """When something fires: five fields of cron, in the time of a zone."""

    cron: str
    timezone: str = "UTC"
    misfire: Misfire = Misfire.ONCE
    catch_up: int = 100
    """How many missed slots `all` makes up, the newest ones."""


@dataclass(frozen=True)
class DueSlots:
    """What is to be done about the slots of a stretch of time."""

    fire: tuple[datetime, ...]
    """Each of them starts an execution; UTC, oldest first."""
    passed: int
    """How many others there were."""
    position: datetime
    """Up to here nothing is left to do."""
    more: bool = False
    """Whether slots behind the position are due already."""


def check_schedule(schedule: Schedule, after: datetime) -> None:
    """Refuse a schedule without a slot behind `after`.

    Raises:
        BadSchedule: its zone is not known, its cron cannot be read, or it never fires.
    """
    _zone(schedule.timezone)
    if first_slot(schedule, after) is None:
        raise BadSchedule("cron", f"{shown(schedule.cron)} never fires", "no month has such a day")


def first_slot(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first slot behind a moment, in UTC; None: there is none in 50 years.

    Raises:
        BadSchedule: as `check_schedule`.
    """
    return next(slots_of(schedule, after), None)


def slots_of(
    schedule: Schedule, after: datetime, until: datetime | None = None
) -> Iterator[datetime]:
    """Yield the slots behind `after` up to `until`, ascending, each once, in UTC.

    Raises:
        BadSchedule: as `check_schedule`.
    """
    newest = after
    try:
        for local in _cron(schedule.cron, after.astimezone(_zone(schedule.timezone))):
            slot = local.astimezone(UTC)
            if until is not None and slot > until:
                return
            # Two times inside a gap are one moment, and the second pass of an hour begins with
            # times of the first one.
            if slot > newest:
                newest = slot
                yield slot
    except OverflowError:  # the end of the calendar
        return


def due_slots(schedule: Schedule, position: datetime, now: datetime) -> DueSlots:
    """Return which slots fire, of those behind `position` up to `now`.

    Raises:
        BadSchedule: as `check_schedule`.
    """
    slots = list(islice(slots_of(schedule, position, now), _LOOKED_AT + 1))
    kept = schedule.catch_up if schedule.misfire is Misfire.ALL else 1
    if len(slots) > _LOOKED_AT:
        # Newer ones are behind these; the oldest cannot be among the newest `kept`.
        gone = len(slots) - kept
        return DueSlots((), gone, slots[gone - 1], more=True)
    if schedule.misfire is Misfire.NONE:
        fire = [slot for slot in slots if now - slot <= LATE]
    else:
        fire = slots[-kept:]
    now_fired = tuple(fire[:FIRED_AT_ONCE])
    passed, more = len(slots) - len(fire), len(fire) > len(now_fired)
    # The newest slot, not `now`: a clock that is set back a little misses no slot.
    end = now_fired[-1] if more else slots[-1] if slots else position
    return DueSlots(now_fired, passed, end, more)


@lru_cache(128)
def _zone(name: str) -> ZoneInfo:
    known = available_timezones()  # a name is looked for, and never opened as a path
    if name not in known:
        close = nearest(name, known)
        hint = f"did you mean {close}?" if close else "name one of IANA's, such as Europe/Zurich"
        raise BadSchedule("timezone", f"{shown(name)} is no time zone", hint)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSchedule("timezone", f"{shown(name)} cannot be read: {error}") from None


def _cron(text: str, after: datetime) -> Iterator[datetime]:
    hint = "write minute, hour, day of the month, month, day of the week: 15 4 * * *"
    if len(text) > _LENGTH_MAX or len(text.split()) != _FIELDS:
        raise BadSchedule("cron", f"{shown(text)} is no cron of five fields", hint)
    try:
        return CronSim(text, after)
    except (CronSimError, ValueError, AssertionError) as error:
        raise BadSchedule("cron", f"{shown(text)} is no cron: {error}", hint) from None
