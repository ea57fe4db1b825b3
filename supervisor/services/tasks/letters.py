"""Dead letters through the overlord, for operators who have only its address.

Persisters keep the letters, and do what is wanted of them; the overlord knows who may, notes who
did, and finds a persister that lives.

    caller ──► overlord: permission, audit ──► persister: letters, marks, stores
"""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from supervisor.control.leadership import Leadership
from supervisor.core.model.rows import AuditEntry
from supervisor.core.values.errors import (
    LetterChanged,
    LetterNotFound,
    NoReportStore,
    PersisterUnavailable,
    PersisterUnknown,
)
from supervisor.core.values.permissions import reason_of
from supervisor.ports.clock import Clock
from supervisor.ports.reports.letter_desks import (
    DeskRefuses,
    DeskSilent,
    LetterCall,
    LetterDesks,
    LetterMethod,
)
from supervisor.ports.store import Store
from supervisor.reports.watch import PersisterWatch
from supervisor.views.lenient import lenient
from supervisor.views.reports import LetterPageView, LetterView

__all__ = ["LetterPick", "LetterRequests"]

_BY_MAX = 500
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class LetterPick:
    """Which letter, and of which persister."""

    partition: int
    offset: int
    persister: str | None = None
    """Its address, as a list has named it; None: any that lives."""
    sha256: str | None = None
    """Of the letter that the caller has seen; None: whatever is there."""

    @property
    def path(self) -> str:
        """The path of the letter below the letters."""
        return f"/{self.partition}/{self.offset}"


@dataclass(frozen=True)
class LetterRequests:
    """The verbs on dead letters; one instance per process, safe to call from many threads.

    Each raises:
        NoReportStore: no persister is configured.
        PersisterUnavailable: none answers, or it cannot now.
        PersisterUnknown: the address is none of the settings' persisters.
    """

    store: Store
    clock: Clock
    leadership: Leadership
    desks: LetterDesks
    watch: PersisterWatch | None
    """None: no persister is configured."""

    def page(
        self, about: str | None, limit: int, after: str | None, persister: str | None, *, all_: bool
    ) -> LetterPageView:
        """Return letters, the newest first; `all_`: also those that were handled."""
        params = {"limit": str(limit), "handled": str(all_).lower()}
        params |= {} if about is None else {"reason": about}
        params |= {} if after is None else {"after": after}
        call = LetterCall(LetterMethod.GET, params=params)
        url, page = self._first(persister, call, LetterPageView)
        return page.model_copy(update={"persister": url})

    def get(self, pick: LetterPick) -> LetterView:
        """Return one letter.

        Raises:
            LetterNotFound: there is none.
        """
        call = LetterCall(LetterMethod.GET, pick.path)
        return self._first(pick.persister, call, LetterView)[1]

    def replay(self, pick: LetterPick, author: str) -> LetterView:
        """Store the letter's record if that works now; return the letter with what became of it.

        Raises:
            LetterNotFound: there is none.
            LetterChanged: another letter is there than the caller has seen.
            LeaseLost: this overlord does not lead.
        """
        return self._do(pick, author, "replay", LetterMethod.POST, f"{pick.path}/replay")

    def drop(self, pick: LetterPick, author: str) -> LetterView:
        """Note that nobody wants the letter; raises as `replay`."""
        return self._do(pick, author, "drop", LetterMethod.DELETE, pick.path)

    def _do(
        self, pick: LetterPick, author: str, verb: str, method: LetterMethod, path: str
    ) -> LetterView:
        term = self.leadership.term()
        look = LetterCall(LetterMethod.GET, pick.path)
        url, letter = self._first(pick.persister, look, LetterView)
        if pick.sha256 is not None and pick.sha256 != letter.sha256:
            raise LetterChanged(pick.path.strip("/"))
        detail = {"persister": url, "from": letter.origin, "sha256": letter.sha256}
        subject = f"{pick.partition}-{pick.offset}"
        # The entry comes first: what was done with a letter must never be without its audit.
        with self.store.leading(term) as tx:
            tx.audit.write(AuditEntry(self.clock.now(), author, f"{verb}-letter", subject, detail))
        params = {"by": str(author)[:_BY_MAX], "reason": (reason_of(author) or "")[:_BY_MAX]}
        try:
            return _read(self.desks.call(url, LetterCall(method, path, params)), LetterView)
        except DeskSilent as error:
            raise PersisterUnavailable(
                f"the persister {url} did not answer: {error}. It may have done it: look at the "
                "letter; to ask again does no harm"
            ) from error
        except DeskRefuses as error:
            raise _problem(url, error, pick.path) from error

    def _first(self, wanted: str | None, call: LetterCall, kind: type[M]) -> tuple[str, M]:
        """Return the answer of the first persister that has one, and its address."""
        silent = []
        for url in self._addresses(wanted):
            try:
                return url, _read(self.desks.call(url, call), kind)
            except DeskSilent as error:
                silent.append(f"{url}: {error}")
            except DeskRefuses as error:
                raise _problem(url, error, call.path) from error
        raise PersisterUnavailable("no persister answers: " + "; ".join(silent))

    def _addresses(self, wanted: str | None) -> Sequence[str]:
        """Return whom to ask, in order: those that lived when they were last looked at first."""
        if self.watch is None:
            raise NoReportStore(
                "this overlord knows no persister: name its address in "
                "TIDEGATE_REPORTS_PERSISTER of the overlords"
            )
        if wanted is not None:
            if wanted not in self.watch.urls:
                raise PersisterUnknown(wanted, self.watch.urls)
            return (wanted,)
        silent = {each.url for each in self.watch.last() if each.state is None}
        return sorted(self.watch.urls, key=lambda url: url in silent)


def _read(body: bytes, kind: type[M]) -> M:
    try:
        return lenient(kind).model_validate_json(body)
    except ValidationError as error:
        raise DeskSilent("its answer is none of a persister") from error


def _problem(url: str, error: DeskRefuses, path: str) -> LetterNotFound | PersisterUnavailable:
    """Return what a persister's refusal is to the caller of the overlord."""
    if error.status == HTTPStatus.NOT_FOUND:
        return LetterNotFound(path.strip("/"))
    if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return PersisterUnavailable(
            f"the persister {url} does not know this overlord: give both the same TIDEGATE_TOKEN"
        )
    return PersisterUnavailable(f"the persister {url} answered {error.status}: {error}")
