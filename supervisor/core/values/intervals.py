"""Time intervals in ISO 8601, `start/end`, with an exclusive end."""

from dataclasses import dataclass
from datetime import UTC, datetime

from supervisor.core.values.field_types import shown, wrong

FORM = "start/end in ISO 8601, such as 2026-01-01/2026-01-02 or 2026-01-01T06:00Z/2026-01-01T07:00Z"
"""The accepted form; a time without a zone is UTC."""

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?"
PATTERN = f"^{_DAY}({_TIME})?/{_DAY}({_TIME})?$"
"""The common form, for descriptions."""


@dataclass(frozen=True)
class Interval:
    """From `start` up to `end`, exclusive; aware, UTC."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{_written(self.start)}/{_written(self.end)}"

    def holds(self, moment: datetime) -> bool:
        """Return whether `moment` lies inside."""
        return self.start <= moment < self.end

    def contains(self, start: datetime, end: datetime) -> bool:
        """Return whether `[start, end)` lies wholly inside."""
        return self.start <= start and end <= self.end


def parse_interval(text: str) -> Interval:
    """Return the interval that `text` names.

    Raises:
        PydanticCustomError: a ValueError; `text` is not an interval, or an empty one.
    """
    parts = text.split("/")
    if len(parts) != 2:  # noqa: PLR2004 -- two ends
        raise wrong(f"{shown(text)!r} is no interval: write {FORM}", FORM)
    start, end = (_moment(part) for part in parts)
    if end <= start:
        raise wrong(f"{shown(text)!r} ends before it has begun: write {FORM}", FORM)
    return Interval(start, end)


def _moment(part: str) -> datetime:
    try:
        moment = datetime.fromisoformat(part)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise wrong(f"{shown(part)!r} is no time: write {FORM}", FORM) from None


def _written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
