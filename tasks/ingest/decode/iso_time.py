"""ISO 8601 times as SQL: some forms by Spark's own cast, the others rewritten for the cast.

    2024-05-01T10:00:00Z ──────────────────────────────────────── cast ──► TIMESTAMP
    2024-W18-3T10Z ─► 2024-01-04T10:00:00Z, and 118 days on ────── cast ──► + days ──► TIMESTAMP

The SQL has no lambda: Spark does not compile a step with a lambda together with its neighbours, and
nearly all records have the first form.

Source: Joda-Time's `ISODateTimeFormat.dateTimeParser`, by which Druid reads times.
"""

from tasks.rows.sql.text import text
from tasks.rows.time.zones import OFFSET

_WEEK = "[0-9]{4}-W[0-9]{1,2}(?:-[1-7])?"
_DAY_OF_YEAR = "[0-9]{4}-[0-9]{3}"
_DATE = f"(?:{_WEEK}|{_DAY_OF_YEAR}|[0-9]{{4}}(?:-[0-9]{{1,2}}){{0,2}})"
_TIME = "[0-9]{1,2}(?::[0-9]{1,2}(?::[0-9]{1,2}(?:[.,][0-9]{1,9})?)?)?"
_WHOLE = rf"(?i)\A{_DATE}(?:[T ]{_TIME}(?:{OFFSET})?)?\z"
_END = r"(Z|[+-].*)?\z"

_REWRITES = (
    (r"\A([0-9]{4})-W[0-9]{1,2}(?:-[0-9])?(?![0-9])", "$1-01-04"),  # always in the first week
    (r"\A([0-9]{4})-[0-9]{3}(?![0-9])", "$1-01-01"),
    (r"\A([0-9]{4})(?![0-9-])", "$1-01-01"),
    (r"\A([0-9]{4}-[0-9]{1,2})(?![0-9-])", "$1-01"),
    (rf"([T ][0-9]{{1,2}}){_END}", "$1:00:00$2"),
    (rf"([T ][0-9]{{1,2}}:[0-9]{{1,2}}){_END}", "$1:00$2"),
    (",", "."),
)
"""Forms that Spark's cast does not read, and their replacements."""


def read_iso(raw: str) -> str:
    """Return the SQL TIMESTAMP of the SQL text `raw`; null if `raw` is no time or has no date.

    A year has four digits.  A time without a zone is in UTC.
    """
    # The cast takes a bare number for a year, and a bare time for a time of today.
    plain = f"CASE WHEN substr({raw}, 5, 1) = '-' THEN CAST({raw} AS TIMESTAMP) END"
    return f"coalesce({plain}, {_rewritten(raw)})"


def has_year(raw: str) -> str:
    """Return the SQL of whether a text goes on behind a four-digit year, unlike a number."""
    return f"substr({raw}, 5, 1) IN ('-', 'T')"


def _rewritten(raw: str) -> str:
    normalized = f"upper({raw})"
    for regex, replacement in _REWRITES:
        normalized = f"regexp_replace({normalized}, {text(regex)}, {text(replacement)})"
    moved = f"timestampadd(DAY, {_days_on(raw)}, CAST({normalized} AS TIMESTAMP))"
    return f"CASE WHEN rlike({raw}, {text(_WHOLE)}) THEN {moved} END"


def _days_on(raw: str) -> str:
    """Return the SQL of the number of days to add; null if there is no such day."""
    year = f"CAST(substr({raw}, 1, 4) AS INT)"
    week = f"CAST(regexp_extract({raw}, '-[Ww]([0-9]+)', 1) AS INT)"
    weekday = f"CAST(regexp_extract({raw}, '-[Ww][0-9]+-([1-7])', 1) AS INT)"
    monday = f"{week} * 7 - 7 - weekday(make_date({year}, 1, 4))"
    by_week = (
        f"CASE WHEN {week} BETWEEN 1 AND weekofyear(make_date({year}, 12, 28)) "
        f"THEN {monday} + coalesce({weekday}, 1) - 1 END"
    )
    day = f"CAST(substr({raw}, 6, 3) AS INT)"
    by_day = (
        f"CASE WHEN {day} BETWEEN 1 AND dayofyear(make_date({year}, 12, 31)) THEN {day} - 1 END"
    )
    ordinal = rf"\A{_DAY_OF_YEAR}(?![0-9])"
    return (
        f"CASE WHEN substr({raw}, 6, 1) IN ('W', 'w') THEN {by_week} "
        f"WHEN rlike({raw}, {text(ordinal)}) THEN {by_day} ELSE 0 END"
    )
