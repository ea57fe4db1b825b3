"""Parts of a time, which is a long: milliseconds since the epoch."""

from tasks.expression.functions.given import Function, Given, table
from tasks.expression.let import let
from tasks.expression.value import Value, of_long

_MILLIS_MIN = -62_135_596_800_000
_MILLIS_MAX = 253_402_300_799_999
_ZONES = {"UTC", "Etc/UTC", "Z", "+00:00"}

# By Druid's name; `{t}` is a TIMESTAMP, the session's zone is UTC.
_UNITS = {
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
}


def _extract(given: Given) -> Value:
    """Of the years 1 to 9999; a text is null."""
    unit = given.literal_text(1, "the unit").upper()
    if unit not in _UNITS and unit != "EPOCH":
        raise given.wrong(1, f"the unit '{unit}' is not known", f"use EPOCH, {', '.join(_UNITS)}")
    if given.has(2) and given.values[2].texts:
        zone = given.literal_text(2, "the time zone")
        if zone not in _ZONES:
            raise given.wrong(2, f"the time zone '{zone}' is not built here", "use UTC")
    if given.values[0].texts and not given.values[0].long:
        raise given.wrong(0, "timestamp_extract takes a long, milliseconds", "cast it")
    millis = given.values[0].long or "CAST(NULL AS BIGINT)"
    if unit == "EPOCH":
        return of_long(f"({millis} div 1000L)")
    return of_long(
        let(
            millis,
            lambda m: (
                f"CASE WHEN {m} BETWEEN {_MILLIS_MIN}L AND {_MILLIS_MAX}L THEN "
                + _UNITS[unit].replace("{t}", f"timestamp_millis({m})")
                + " END"
            ),
        )
    )


FUNCTIONS = table(Function("timestamp_extract(time, unit[, zone])", 2, 3, _extract))
