"""Time zones in SQL: from an instant to the wall clock, and back.

    instant (BIGINT, microseconds since 1970 in UTC) ── local ──► wall clock, as if it were UTC
                                                     ◄─ instant ──

Spark fails a job with an unknown zone, so only the names of `zone_names` are accepted.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from tasks.rows.sql.text import text
from tasks.rows.time.zone_names import REGIONS

SECOND = 1_000_000
"""Microseconds of a second."""

DAY = 86_400 * SECOND
"""Microseconds of a day without a change of the clock."""

FIRST = -62_135_596_800 * SECOND
"""The first instant of year 1; earlier ones are not supported."""

LAST = 253_402_300_800 * SECOND - 1
"""The last microsecond of year 9999."""

REGION = "[A-Z][A-Za-z]*(?:/[A-Z0-9][A-Za-z0-9_+-]*){1,2}"
"""A regular expression, for Python and Java: `Europe/Berlin`, `Etc/GMT+5`, `US/Pacific`."""

_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
OFFSET = (
    "([Zz]|[+-](?:[01][0-9]|2[0-3])(?::[0-5][0-9](?::[0-5][0-9])?+|[0-5][0-9](?:[0-5][0-9])?+)?+)"
)
"""A regular expression with one group: `Z`, `+05`, `+0530`, `+05:30`, `+05:30:15`."""

ZONES_OF_NAMES = {
    **dict.fromkeys(("UT", "UTC", "GMT"), "UTC"),
    **dict.fromkeys(("EST", "EDT"), "America/New_York"),
    **dict.fromkeys(("CST", "CDT"), "America/Chicago"),
    **dict.fromkeys(("MST", "MDT"), "America/Denver"),
    **dict.fromkeys(("PST", "PDT"), "America/Los_Angeles"),
}
"""The short names that Joda parses; `EST` in July also means the time of New York."""

_FIXED = {"UTC": "UTC", "Z": "UTC", "GMT": "GMT", "Etc/UTC": "Etc/UTC"}


class ZoneError(ValueError):
    """An invalid time zone; `message` says what is wrong, `fix` what to write."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}; {fix}")
        self.message = message
        self.fix = fix


@dataclass(frozen=True)
class Zone:
    """A time zone; `offset` (microseconds east of UTC) is None if it changes with the time."""

    id: str
    offset: int | None

    def local(self, instant: str) -> str:
        """Return the SQL of the wall clock at the SQL `instant`."""
        if self.offset is None:
            return f"unix_micros(from_utc_timestamp(timestamp_micros({instant}), {text(self.id)}))"
        return _plus(instant, self.offset)

    def instant(self, local: str) -> str:
        """Return the SQL of the instant at which the wall clock shows the SQL `local`.

        Of two instants the earlier; a skipped time counts as if the clock had not been put forward.
        Source: Joda's `DateTimeZone.getOffsetFromLocal`.
        """
        if self.offset is None:
            return f"unix_micros(to_utc_timestamp(timestamp_micros({local}), {text(self.id)}))"
        return _plus(local, -self.offset)

    def instant_shown(self, local: str) -> str:
        """As `instant`, but null if the wall clock never shows `local`."""
        if self.offset is not None:
            return self.instant(local)
        shown = f"CASE WHEN {self.local('u')} = lz THEN u END"
        return let("lz", local, let("u", self.instant("lz"), shown))


def read_zone(name: str) -> Zone:
    """Parse `UTC`, `GMT`, an offset such as `+05:30`, or the name of a `Region/City`.

    Raises:
        ZoneError: the text is none of these.
    """
    if name in _FIXED:
        return Zone(_FIXED[name], 0)
    if match := _OFFSET.fullmatch(name):
        sign = -1 if match[1] == "-" else 1
        offset = sign * (int(match[2]) * 3_600 + int(match[3]) * 60) * SECOND
        return Zone(name if offset else "UTC", offset)
    if name in REGIONS:
        return Zone(name, None)
    close = get_close_matches(name[:80], REGIONS, n=1)
    raise ZoneError(
        f"{name[:80]!r} is no time zone",
        f"did you mean {close[0]}?"
        if close
        else "write a name such as America/Los_Angeles, UTC, or an offset such as +05:30",
    )


def instant_in_named(local: str, zone: str) -> str:
    """As `Zone.instant_shown`, for the SQL text `zone`; null if that is no zone's name."""
    # Functions that take a zone fail the job for an unknown name; a cast gives null.
    clock = "date_format(timestamp_micros(lz), 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    instant = f"unix_micros(CAST(concat({clock}, ' ', {zone}) AS TIMESTAMP))"
    back = f"unix_micros(from_utc_timestamp(timestamp_micros(u), {zone}))"
    shown = f"CASE WHEN u IS NOT NULL THEN CASE WHEN {back} = lz THEN u END END"
    return let("lz", local, let("u", instant, shown))


def offset_micros(offset: str) -> str:
    """Return the SQL of an offset (a text that matches `OFFSET`), in microseconds."""
    digits = f"rpad(replace({offset}, ':', ''), 7, '0')"
    hours, minutes, seconds = (f"CAST(substr({digits}, {at}, 2) AS BIGINT)" for at in (2, 4, 6))
    size = f"({hours} * 3600 + {minutes} * 60 + {seconds}) * {SECOND}"
    return (
        f"CASE WHEN {offset} IN ('Z', 'z') THEN 0L WHEN startswith({offset}, '-') THEN -({size}) "
        f"WHEN startswith({offset}, '+') THEN {size} END"
    )


def wall_clock(fields: Mapping[str, str]) -> str:
    """Return the SQL of the wall clock, in microseconds; null if there is no such day.

    `fields` has the SQL of numbers in their ranges: year, month, day, dayofyear, weekyear, week,
    weekday, hour, halfhour (0 to 11), minute, second, fraction (microseconds); and of texts: era,
    half (am or pm).  Missing fields are those of 1970-01-01, but a date without a year is in 2000;
    a weekday moves within the week.
    """
    parts = []
    if date := _date(fields):
        parts.append(f"CAST(unix_date({date}) AS BIGINT) * {DAY}")
    if "hour" in fields:
        parts.append(f"{_long(fields['hour'])} * 3600000000")
    else:
        if "halfhour" in fields:
            parts.append(f"{_long(fields['halfhour'])} * 3600000000")
        if "half" in fields:
            half = f"array_position(array('am', 'pm'), lower({fields['half']}))"
            parts.append(f"(nullif({half}, 0) - 1) * 43200000000")
    for field, unit in (("minute", 60 * SECOND), ("second", SECOND), ("fraction", 1)):
        if field in fields:
            parts.append(f"{_long(fields[field])} * {unit}")
    local = " + ".join(parts) or "0L"
    if "era" in fields:  # the years before Christ are not supported
        local = f"CASE WHEN lower({fields['era']}) IN ('ad', 'ce') THEN {local} END"
    return local


def _long(value: str) -> str:
    return f"CAST({value} AS BIGINT)"


def _date(fields: Mapping[str, str]) -> str:
    """Return the SQL DATE, null if there is no such day; empty if no field concerns the date."""
    if "weekyear" in fields:
        year = fields["weekyear"]
        january = f"make_date({year}, 1, 4)"  # always in the first week
        week, day = fields.get("week", "1"), fields.get("weekday", "1")
        date = f"date_add({january}, CAST({week} * 7 - 8 + {day} - weekday({january}) AS INT))"
        return f"CASE WHEN {week} <= weekofyear(make_date({year}, 12, 28)) THEN {date} END"
    year = fields.get("year", "2000")  # Joda's, of a date; a time alone is one of 1970
    if "dayofyear" in fields:
        day = fields["dayofyear"]
        date = f"date_add(make_date({year}, 1, 1), {day} - 1)"
        date = f"CASE WHEN {day} <= dayofyear(make_date({year}, 12, 31)) THEN {date} END"
    elif fields.keys() & {"year", "month", "day"}:
        month = f"CAST({fields.get('month', '1')} AS INT)"
        date = f"make_date({year}, {month}, {fields.get('day', '1')})"
    else:
        return ""
    if weekday := fields.get("weekday"):
        date = f"date_add({date}, CAST({weekday} - 1 - weekday({date}) AS INT))"
    return date


def let(name: str, value: str, body: str) -> str:
    """Return SQL that evaluates `value` once and uses it in `body` under `name`.

    Spark evaluates a repeated expression once only if it is outside of conditions.  `body` must not
    contain another SQL text of a caller, because `name` would hide a column of that name.
    """
    return f"transform(array({value}), {name} -> {body})[0]"


def cast_plain(raw: str, regex: str, groups: Mapping[str, int], zone: Zone) -> str:
    """Return the SQL TIMESTAMP of a text that matches `regex`, by Spark's own cast; else null.

    `groups` has the number of a group for year (four digits), month and day, and perhaps for hour,
    minute, second, fraction and zone (an offset); `zone` is that of a text without one.
    """
    end = zone.id if zone.offset else "Z"
    missing = {"hour": "00", "minute": "00", "second": "00", "fraction": "0", "zone": end}
    found = {field: f"${number + 1}" for field, number in groups.items()}
    form = "{year}-{month}-{day}T{hour}:{minute}:{second}.{fraction}{zone}"
    cast = f"CAST({rewritten(raw, regex, form.format(**(missing | found)))} AS TIMESTAMP)"
    if zone.offset is not None or "zone" in groups:
        return cast
    instant = f"to_utc_timestamp({cast}, {text(zone.id)})"
    back = f"from_utc_timestamp({instant}, {text(zone.id)})"
    return f"CASE WHEN {back} = {cast} THEN {instant} END"


def rewritten(raw: str, regex: str, groups: str) -> str:
    """Return the SQL of `groups` ($1, $2, …) of the whole text; all empty if it does not match."""
    whole = f"\\A(?:{regex}\\z|(?s:.*))"
    return f"regexp_replace({raw}, {text(whole)}, {text(groups)})"


def bounded(instant: str) -> str:
    """Return the SQL TIMESTAMP of the SQL `instant`; null outside the years 1 to 9999."""
    kept = f"CASE WHEN i BETWEEN {FIRST} AND {LAST} THEN timestamp_micros(i) END"
    return let("i", instant, kept)


def _plus(value: str, micros: int) -> str:
    return f"({value} + {micros})" if micros else value
