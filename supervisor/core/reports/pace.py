"""The pace at which a persister writes: a bucket of tokens, filled by a clock that only goes on.

A bucket holds a tenth of a second's worth, and one token at least.  So what comes in a burst after
a silence does not exceed the rate by more than that.
"""

from dataclasses import dataclass

__all__ = ["PaceBucket"]

_SECONDS_HELD = 0.1


@dataclass
class PaceBucket:
    """Tokens for one kind of thing: records, or bytes.  `now` is monotonic, in seconds."""

    rate: float
    """Tokens per second, more than 0."""
    level: float = 0.0
    filled_at: float | None = None

    @property
    def capacity(self) -> float:
        """The most tokens that it holds."""
        return max(self.rate * _SECONDS_HELD, 1.0)

    def wait_s(self, wanted: float, now: float) -> float:
        """Return how long to wait until `wanted` may be taken; 0.0: now.

        More than the bucket holds may be taken when it is full: it then owes the rest.
        """
        self._fill(now)
        lacking = min(wanted, self.capacity) - self.level
        return max(lacking / self.rate, 0.0)

    def take(self, wanted: float, now: float) -> None:
        """Take tokens, after the wait for them."""
        self._fill(now)
        self.level -= wanted

    def _fill(self, now: float) -> None:
        if self.filled_at is None:
            self.level = self.capacity
        elif now > self.filled_at:
            self.level = min(self.level + (now - self.filled_at) * self.rate, self.capacity)
        self.filled_at = now if self.filled_at is None else max(now, self.filled_at)
