"""What a process of the product answers to `GET /status`, as far as doctor checks it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from pydantic import AwareDatetime, BaseModel, ValidationError

from supervisor.settings.settings import Settings

__all__ = ["CLOCK_FIX", "CheckedStatus", "NoStatus", "StatusAnswer", "ask_status"]

CLOCK_FIX = "let NTP set both clocks"
_ASK_S = 5.0
_CLOCKS_APART = timedelta(seconds=5)
"""Beyond it the ages that people see are wrong; records are ordered by their own numbers."""


class NoStatus(Exception):
    """The process gives no answer, or none that can be read."""


class CheckedStatus(BaseModel):
    """The members that are checked."""

    state: str
    reason: str = ""
    fix: str = ""
    now: AwareDatetime | None = None
    """None: a process of an older release."""


@dataclass(frozen=True)
class StatusAnswer:
    """An answer, and how far the clock behind it is from this one."""

    status: CheckedStatus
    clock: str
    """By how much it differs, in words; empty: it agrees, or it is not known."""


def ask_status(settings: Settings, url: str) -> StatusAnswer:
    """Ask a process for its status.

    Raises:
        NoStatus: it gives none, and why.
    """
    before = datetime.now(UTC)
    try:
        answer = httpx.get(
            f"{url}/status", timeout=_ASK_S, trust_env=False, verify=settings.trust()
        )
        status = CheckedStatus.model_validate_json(answer.raise_for_status().content)
    except (httpx.HTTPError, ValidationError) as error:
        raise NoStatus(str(error).partition("\n")[0] or type(error).__name__) from error
    after = datetime.now(UTC)
    differs = "" if status.now is None else _clock_difference(status.now, before, after)
    return StatusAnswer(status, differs)


def _clock_difference(answered: datetime, before: datetime, after: datetime) -> str:
    """Return by how much another clock differs; empty: it agrees.

    `answered` is what it said, between `before` and `after` of this clock.
    """
    apart = max(before - answered, answered - after)
    if apart <= _CLOCKS_APART:
        return ""
    return f"its clock differs from this one by {apart.total_seconds():.0f} s"
