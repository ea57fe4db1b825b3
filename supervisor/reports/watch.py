"""What the leader knows of persisters: each is asked now and then, and the last answer is kept.

They are asked by a timer's thread that holds no lock and no transaction.  Who shows them never
waits for one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from supervisor.core.attention.reports import WatchedPersister
from supervisor.ports.clock import Clock
from supervisor.ports.reports.persisters import Persisters, PersisterSilent

__all__ = ["PersisterWatch"]


@dataclass
class PersisterWatch:
    """The persisters of an installation; thread-safe, since an answer is replaced as a whole."""

    clock: Clock
    persisters: Persisters
    urls: Sequence[str]
    _last: dict[str, WatchedPersister] = field(default_factory=dict)

    def run_once(self) -> None:
        """Ask each persister, one after the other."""
        for url in self.urls:
            self._last[url] = self._answer_of(url)

    def forget(self) -> None:
        """Forget all answers: this overlord leads no more."""
        self._last.clear()

    def last(self) -> Sequence[WatchedPersister]:
        """Return the last answers, in the order of the settings; none before the first ones."""
        last = dict(self._last)
        return [last[url] for url in self.urls if url in last]

    def _answer_of(self, url: str) -> WatchedPersister:
        before = self._last.get(url)
        now = self.clock.now()
        try:
            answer = self.persisters.status(url)
        except PersisterSilent as error:
            silent = WatchedPersister(url, None, now, str(error))
            return replace(silent, since=_since(before, None, now))
        return WatchedPersister(
            url=url,
            state=answer.state,
            since=_since(before, answer.state, now),
            reason=answer.reason,
            lag=answer.lag,
            lag_seconds=answer.lag_seconds,
            stored=answer.stored,
            dead_letters=answer.dead_letters,
            lost=answer.lost,
        )


def _since(before: WatchedPersister | None, state: str | None, now: datetime) -> datetime:
    return before.since if before is not None and before.state == state else now
