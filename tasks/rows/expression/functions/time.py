"""Parts of a time (a long: milliseconds since the epoch), in a zone that is a literal."""

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let
from tasks.rows.expression.value import Value, of_double, of_long
from tasks.rows.time.zones import Zone, ZoneError, read_zone

_MILLIS_MIN = -62_135_596_800_000
_MILLIS_MAX = 253_402_300_799_999

# By Druid's name; `{t}` is the zone's wall clock as a TIMESTAMP, and the session's zone is UTC.
_UNITS = {
    "MILLISECOND": "(unix_millis({t}) - unix_seconds({t}) * 1000L)",
    "SECOND": "CAST(floor(extract(SECOND FROM {t})) AS BIGINT)",
    "MINUTE": "CAST(minute({t}) AS BIGINT)",
    "HOUR": "CAST(hour({t}) AS BIGINT)",
    "DAY": "CAST(day({t}) AS BIGINT)",
    "DOW": "CAST(weekday({t}) + 1 AS BIGINT)",
    "ISODOW": "CAST(weekday({t}) + 1 AS BIGINT)",
    "DOY": "CAST(dayofyear({t}) AS BIGINT)",
    "WEEK": "CAST(weekofyear({t}) AS BIGINT)",
    "MONTH": "CAST(month({t}) AS BIGINT)",
    "QUARTER": "CAST(quarter({t}) AS BIGINT)",
    "YEAR": "CAST(year({t}) AS BIGINT)",
    "ISOYEAR": "CAST(extract(YEAROFWEEK FROM {t}) AS BIGINT)",
    "DECADE": "CAST(year({t}) div 10 AS BIGINT)",
}
# In Druid these are doubles that count from the year 1 of a century: 2000 is in the 20th.
_DOUBLES = {
    "CENTURY": "CAST(ceil(year({t}) / 100D) AS DOUBLE)",
    "MILLENNIUM": "CAST(ceil(year({t}) / 1000D) AS DOUBLE)",
}


def _extract(given: Given) -> Value:
    """For the years 1 to 9999; a text gives null."""
    unit = given.literal_text(1, "the unit").upper()
    if unit not in _UNITS and unit not in _DOUBLES and unit != "EPOCH":
        known = ", ".join(("EPOCH", *_UNITS, *_DOUBLES))
        raise given.wrong(1, f"the unit '{unit}' is not known", f"use {known}")
    zone = _zone(given)
    if given.values[0].texts and not given.values[0].long:
        raise given.wrong(0, "timestamp_extract takes a long, milliseconds", "cast it")
    millis = given.values[0].long or "CAST(NULL AS BIGINT)"
    if unit == "EPOCH":
        return of_long(f"({millis} div 1000L)")
    if unit in _DOUBLES:
        return of_double(let(millis, lambda m: _part(m, zone, _DOUBLES[unit])))
    return of_long(let(millis, lambda m: _part(m, zone, _UNITS[unit])))


def _part(millis: str, zone: Zone, form: str) -> str:
    shown = let(
        f"timestamp_micros({zone.local(f'({millis} * 1000L)')})", lambda t: form.replace("{t}", t)
    )
    return f"CASE WHEN {millis} BETWEEN {_MILLIS_MIN}L AND {_MILLIS_MAX}L THEN {shown} END"


def _zone(given: Given) -> Zone:
    if not given.has(2) or not given.values[2].texts:
        return read_zone("UTC")
    try:
        return read_zone(given.literal_text(2, "the time zone"))
    except ZoneError as error:
        raise given.wrong(2, error.message, error.fix) from None


FUNCTIONS = table(Function("timestamp_extract(time, unit[, zone])", 2, 3, _extract))
