"""The desk for dead letters: people list them, replay them, or drop them; each is noted.

A replay is a store of the same bytes by the same rules.  If it is ended halfway, the letter is
still listed, and its next replay meets a conflict, which is as good as stored.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from supervisor.core.reports.status import PersisterState, StoreOutcome
from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.kept_letters import (
    KeptLetter,
    KeptLetters,
    LetterMark,
    LetterMarks,
    LetterPlace,
    LetterVerb,
)
from supervisor.reports.door import NotNow
from supervisor.reports.incoming import Incoming
from supervisor.reports.pipeline import Pipeline
from supervisor.reports.storing import Storing

__all__ = ["LetterDesk", "LetterPage", "LetterQuery", "MarkedLetter", "MarkedLetters"]

log = structlog.get_logger()

_AT_ONCE = 20
"""Letters that are read at once: of 2 MiB each at most."""
_LISTED_BYTES = 1_000
"""Of a letter's body, in a list."""
_LOOKS_MAX = 1_000
"""Letters that one page looks at; where few match, it is short, and says where to go on."""


@dataclass(frozen=True)
class LetterQuery:
    """Which letters to list; a field of None does not narrow the result."""

    partition: int | None = None
    reason: str | None = None
    """The reason holds it, in any case of letters."""
    handled: bool = False
    """Also those that were replayed or dropped."""
    before: LetterPlace | None = None


@dataclass(frozen=True)
class MarkedLetter:
    """A letter, and what was last done with it."""

    kept: KeptLetter
    """In a list with the beginning of its body alone."""
    mark: LetterMark | None
    size_bytes: int
    sha256: str
    """Of the whole body, as that size is."""

    @property
    def is_handled(self) -> bool:
        """Whether it was replayed or dropped."""
        return self.mark is not None and self.mark.is_handled


@dataclass(frozen=True)
class LetterPage:
    """Letters, the newest first."""

    letters: Sequence[MarkedLetter]
    more: LetterPlace | None
    """Where the next page goes on; None: there is none."""


@dataclass(frozen=True)
class MarkedLetters:
    """Dead letters with what people did with them; thread-safe.

    Each method raises `StoreAway` and `StoreRefuses`.
    """

    letters: KeptLetters
    marks: LetterMarks
    now: Callable[[], datetime]

    def page(self, query: LetterQuery, limit: int) -> LetterPage:
        """Return the newest letters that match."""
        matches: list[MarkedLetter] = []
        place, looks = query.before, 0
        while looks < _LOOKS_MAX:
            some = self.letters.newest(place, query.partition, _AT_ONCE)
            if not some:
                return LetterPage(matches, None)
            for each in self._marked(some):
                place = each.kept.place
                if _matches(each, query):
                    matches.append(_shortened(each))
                    if len(matches) == limit:
                        return LetterPage(matches, place)
            looks += len(some)
        return LetterPage(matches, place)

    def get(self, place: LetterPlace) -> MarkedLetter | None:
        """Return one letter; None: there is none."""
        kept = self.letters.get(place)
        return None if kept is None else self._marked([kept])[0]

    def drop(self, place: LetterPlace, by: str, reason: str) -> MarkedLetter | None:
        """Note that nobody wants the letter; one that is handled is left as it is."""
        letter = self.get(place)
        if letter is None or letter.is_handled:
            return letter
        return self.note(letter, LetterVerb.DROP, None, detail="", by=by, reason=reason)

    def waiting(self) -> int:
        """Return how many letters nobody has handled."""
        extents = self.letters.extents()
        handled = self.marks.handled(self.letters.source, extents)
        return max(sum(each.number for each in extents) - handled, 0)

    def _marked(self, kept: Sequence[KeptLetter]) -> Sequence[MarkedLetter]:
        marks = self.marks.of(self.letters.source, [each.place for each in kept])
        marked = []
        for each in kept:
            mark = marks.get(each.place)
            fits = mark is not None and mark.digest == _digest(each.letter)
            body = each.letter.body
            sha256 = hashlib.sha256(body).hexdigest()
            marked.append(MarkedLetter(each, mark if fits else None, len(body), sha256))
        return marked

    def note(
        self,
        letter: MarkedLetter,
        verb: LetterVerb,
        outcome: StoreOutcome | None,
        *,
        detail: str,
        by: str,
        reason: str,
    ) -> MarkedLetter:
        """Note what was done with a letter, and return it with that."""
        place = letter.kept.place
        digest = _digest(letter.kept.letter)
        mark = LetterMark(verb, outcome, detail, by, reason, self.now(), digest)
        self.marks.note(self.letters.source, place, mark)
        log.info(
            "a dead letter was handled",
            verb=verb,
            outcome=outcome,
            partition=place.partition,
            offset=place.offset,
            by=by,
            why=reason,
        )
        return replace(letter, mark=mark)


@dataclass(frozen=True)
class LetterDesk(MarkedLetters):
    """Dead letters of a persister for people."""

    storing: Storing
    pipeline: Pipeline

    def replay(self, place: LetterPlace, by: str, reason: str) -> MarkedLetter | None:
        """Store the letter's record if it can be stored now; return the letter with its mark.

        One that was replayed already is left as it is.  None: there is no such letter.

        Raises:
            NotNow: the persister is paused, or does not reach its stores.
        """
        letter = self.get(place)
        if letter is None or (letter.is_handled and _verb(letter) is LetterVerb.REPLAY):
            return letter
        status = self.pipeline.status().status
        if status.state is not PersisterState.RUNNING:
            raise NotNow(status.reason or f"the persister is {status.state}")
        outcome, detail = self._store(letter.kept.letter)
        return self.note(letter, LetterVerb.REPLAY, outcome, detail=detail, by=by, reason=reason)

    def _store(self, letter: DeadLetter) -> tuple[StoreOutcome, str]:
        """Store a record by the rules of all others; but one that is refused is no new letter."""
        refusals = _Refusals()
        outcomes: list[StoreOutcome] = []
        item = Incoming(
            letter.topic,
            letter.partition,
            letter.offset,
            letter.key,
            letter.body,
            lambda _, __: None,
        )
        storing = replace(self.storing, letters=refusals)
        storing.store([item], lambda _, outcome: outcomes.append(outcome))
        return outcomes[0], refusals.reason


class _Refusals:
    """Hears why a replay is refused, in place of the topic of dead letters."""

    reason = ""

    def put(self, letters: Sequence[DeadLetter]) -> None:
        """Keep the reason."""
        self.reason = letters[0].reason

    def close(self) -> None:
        """Hold nothing."""


def _shortened(letter: MarkedLetter) -> MarkedLetter:
    body = letter.kept.letter.body[:_LISTED_BYTES]
    return replace(letter, kept=replace(letter.kept, letter=replace(letter.kept.letter, body=body)))


def _matches(letter: MarkedLetter, query: LetterQuery) -> bool:
    if letter.is_handled and not query.handled:
        return False
    wanted = (query.reason or "").casefold()
    return wanted in letter.kept.letter.reason.casefold()


def _verb(letter: MarkedLetter) -> LetterVerb | None:
    return None if letter.mark is None else letter.mark.verb


def _digest(letter: DeadLetter) -> bytes:
    where = f"{letter.topic}\n{letter.partition}\n{letter.offset}\n".encode()
    return hashlib.sha256(where + letter.body).digest()[:16]
