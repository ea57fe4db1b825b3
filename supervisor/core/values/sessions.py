"""Sessions of browsers: how long a login counts.

    begun ──► used, again and again ──► 12 h unused, or 7 days old ──► ended ──► deleted
      └───── logged out ──► deleted                                              7 days later

A session is never longer than its principal: one that was revoked or has expired ends all of its
sessions.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

IDLE = timedelta(hours=12)
"""A session that nobody uses for so long has ended."""
LASTS = timedelta(days=7)
"""A session ends so long after its login, however much it is used."""
NOTED_EVERY = timedelta(minutes=5)
"""The use of a session is stored so often: a page that asks each second writes no row each time."""
ENDED_KEPT = timedelta(days=7)
"""An ended session stays on record so long, so that a page that was forgotten is no guess."""
OF_ONE_MAX = 100
"""Sessions of one principal; a further login ends the one that was used least recently."""


@dataclass(frozen=True)
class Session:
    """A login of a browser; only the digest of its secret is known here."""

    digest: str
    """SHA-256 of the secret, in hex."""
    principal: str
    begun_at: datetime
    used_at: datetime

    @property
    def until(self) -> datetime:
        """When it ends unless it is used again."""
        return min(self.used_at + IDLE, self.begun_at + LASTS)

    def live(self, now: datetime) -> bool:
        """Tell whether it counts."""
        return now < self.until

    def is_due(self, now: datetime) -> bool:
        """Tell whether its use has to be stored again."""
        return now - self.used_at >= NOTED_EVERY
