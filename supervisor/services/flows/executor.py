"""The verbs on executions on Kafka as a whole: partitions, and what could not be worked in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.control.leadership import Leadership
from supervisor.core.model.rows import AuditEntry
from supervisor.core.reports.status import StoreOutcome
from supervisor.core.values.errors import (
    ExecutionTopicsUnavailable,
    LetterChanged,
    LetterNotFound,
    LetterUnusable,
    NoExecutionTopics,
)
from supervisor.core.values.permissions import reason_of
from supervisor.executions.executor.registration import DEAD_S, SHOWN_S
from supervisor.ports.clock import Clock
from supervisor.ports.flows.engine_kinds import EngineKind
from supervisor.ports.flows.execution_desk import ExecutionDesk
from supervisor.ports.flows.execution_log import LogAway, LogRefuses, LogTooLarge, LogTopic
from supervisor.ports.flows.executors import ExecutorRow
from supervisor.ports.flows.projection import ProjectionStore
from supervisor.ports.reports.kept_letters import LetterPlace, LetterVerb
from supervisor.ports.store import Store
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.letters import LetterQuery, MarkedLetter, MarkedLetters
from supervisor.services.flows.access import answered
from supervisor.views.flows.executor import (
    DeadInputPage,
    DeadInputView,
    ExecutionPartitionsView,
    ExecutionPartitionView,
    ExecutorState,
    ListedExecutorView,
    ProjectedView,
    RunningCallView,
)
from supervisor.views.reports import HandledView

__all__ = ["DeadInputPick", "ExecutorPorts", "ExecutorVerbs"]

_BY_MAX = 500
_LISTED_MAX = 1_000
"""Characters of a letter in a list."""


@dataclass(frozen=True)
class ExecutorPorts:
    """What is needed where executions run on Kafka."""

    desk: ExecutionDesk
    letters: MarkedLetters
    """Inputs that could not be worked in; one partition."""
    executors: Callable[[], Sequence[ExecutorRow]]
    """The rows of executors, by name."""
    projection: ProjectionStore


@dataclass(frozen=True)
class DeadInputPick:
    """Which input that could not be worked in."""

    offset: int
    sha256: str | None = None
    """Of the one that the caller has seen; None: whatever is there."""

    @property
    def place(self) -> LetterPlace:
        """Where it is kept: the topic has one partition."""
        return LetterPlace(0, self.offset)


@dataclass(frozen=True)
class ExecutorVerbs:
    """One instance per process, safe to call from many threads.

    Each raises:
        NoExecutionTopics: executions run in the database.
        ExecutionTopicsUnavailable: Kafka does not answer, or refuses.
        ExecutionStoreUnavailable: the database of executions does not answer.
    """

    ports: ExecutorPorts | None
    store: Store
    clock: Clock
    leadership: Leadership

    def look(self) -> ExecutionPartitionsView:
        """Return who runs executions, and how the partitions are; in the database are none."""
        if self.ports is None:
            return ExecutionPartitionsView(
                engine=EngineKind.SQL, executors=[], partitions=[], dead_letters=0
            )
        ports = self.ports
        with _reached():
            rows, projected = ports.executors(), ports.projection.positions()
            owners = {
                partition: each.runner.name
                for each in rows
                if _lives(each)
                for partition in each.doing.partitions
            }
            partitions = [
                ExecutionPartitionView(
                    partition=each.partition,
                    owner=owners.get(each.partition),
                    position=each.position,
                    lag=max(0, each.end - (each.position or 0)),
                    projection_lag=max(
                        0, each.state_end - projected.get((LogTopic.STATE, each.partition), 0)
                    ),
                )
                for each in ports.desk.ends()
            ]
            dead_letters = ports.letters.waiting()
        now = self.clock.now()
        return ExecutionPartitionsView(
            engine=EngineKind.KAFKA,
            executors=[_executor(each, now) for each in rows if each.silent_s < SHOWN_S],
            partitions=partitions,
            dead_letters=dead_letters,
        )

    def project(self, author: str) -> ProjectedView:
        """Delete what the tables have from the topics; projectors read it again.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        ports = self._ports()
        self._audit("project-executions", "executions", author, {})
        with _reached():
            return ProjectedView(deleted=ports.projection.clear())

    def page(self, limit: int, before: int | None, *, handled: bool) -> DeadInputPage:
        """Return letters, the newest first; `handled`: also those that were."""
        place = None if before is None else LetterPlace(0, before)
        with _reached():
            page = self._ports().letters.page(LetterQuery(handled=handled, before=place), limit)
        return DeadInputPage(
            letters=[_view(each, whole=False) for each in page.letters],
            next=None if page.more is None else page.more.offset,
        )

    def get(self, pick: DeadInputPick) -> DeadInputView:
        """Return one letter with its whole body.

        Raises:
            LetterNotFound: there is none.
        """
        return _view(self._letter(pick), whole=True)

    def replay(self, pick: DeadInputPick, author: str) -> DeadInputView:
        """Send an input to its execution once more; one that was replayed is left as it is.

        Raises:
            LetterNotFound: there is none.
            LetterChanged: another letter is there than the caller has seen.
            LetterUnusable: it has no value, or is too large.
            LeaseLost: this overlord does not lead.
        """
        ports, letter = self._ports(), self._letter(pick)
        if letter.mark is not None and letter.mark.verb is LetterVerb.REPLAY:
            return _view(letter, whole=True)
        kept = letter.kept.letter
        if not kept.body:
            raise LetterUnusable(pick.offset, "it was kept without its value")
        self._audit("replay-dead-input", str(pick.offset), author, _about(letter))
        with _reached():
            try:
                ports.desk.send(kept.key or b"", kept.body)
            except LogTooLarge as error:
                raise LetterUnusable(pick.offset, str(error)) from error
        return self._note(letter, LetterVerb.REPLAY, StoreOutcome.STORED, author)

    def drop(self, pick: DeadInputPick, author: str) -> DeadInputView:
        """Note that nobody wants a letter; one that was handled is left as it is.

        Raises:
            LetterNotFound: there is none.
            LetterChanged: another letter is there than the caller has seen.
            LeaseLost: this overlord does not lead.
        """
        letter = self._letter(pick)
        if letter.is_handled:
            return _view(letter, whole=True)
        self._audit("drop-dead-input", str(pick.offset), author, _about(letter))
        return self._note(letter, LetterVerb.DROP, None, author)

    def _ports(self) -> ExecutorPorts:
        if self.ports is None:
            raise NoExecutionTopics
        return self.ports

    def _letter(self, pick: DeadInputPick) -> MarkedLetter:
        with _reached():
            letter = self._ports().letters.get(pick.place)
        if letter is None:
            raise LetterNotFound(str(pick.offset))
        if pick.sha256 is not None and pick.sha256 != letter.sha256:
            raise LetterChanged(str(pick.offset))
        return letter

    def _audit(self, action: str, subject: str, author: str, detail: Mapping[str, str]) -> None:
        """Write the entry first: what was done must never be without its audit."""
        with self.store.leading(self.leadership.term()) as tx:
            tx.audit.write(AuditEntry(self.clock.now(), author, action, subject, detail))

    def _note(
        self, letter: MarkedLetter, verb: LetterVerb, outcome: StoreOutcome | None, author: str
    ) -> DeadInputView:
        by, reason = str(author)[:_BY_MAX], (reason_of(author) or "")[:_BY_MAX]
        with _reached():
            noted = self._ports().letters.note(
                letter, verb, outcome, detail="", by=by, reason=reason
            )
        return _view(noted, whole=True)


def _lives(row: ExecutorRow) -> bool:
    return row.silent_s < DEAD_S


def _executor(row: ExecutorRow, now: datetime) -> ListedExecutorView:
    state = ExecutorState.WAITING if row.doing.reason else ExecutorState.RUNNING
    return ListedExecutorView(
        name=row.runner.name,
        url=row.url,
        state=state if _lives(row) else ExecutorState.SILENT,
        reason=row.doing.reason,
        heard_at=now - timedelta(seconds=row.silent_s),
        partitions=sorted(row.doing.partitions),
        makes=[
            RunningCallView(
                execution=each.execution, run=each.run, attempt=each.attempt, look=each.look
            )
            for each in row.doing.makes
        ],
    )


@contextmanager
def _reached() -> Iterator[None]:
    """Raise what Kafka and the database have as errors of the API."""
    try:
        with answered():
            yield
    except (LogAway, LogRefuses, StoreAway) as error:
        raise ExecutionTopicsUnavailable(str(error)) from error


def _view(letter: MarkedLetter, *, whole: bool) -> DeadInputView:
    """Return the response for a letter; `whole`: with all of its body."""
    kept, mark = letter.kept, letter.mark
    body = kept.letter.body.decode(errors="backslashreplace")
    key = kept.letter.key
    return DeadInputView(
        offset=kept.place.offset,
        at=kept.at,
        reason=kept.letter.reason,
        execution=None if not key else key.decode(errors="backslashreplace"),
        partition=kept.letter.partition,
        position=None if kept.letter.offset < 0 else kept.letter.offset,
        size_bytes=letter.size_bytes,
        sha256=letter.sha256,
        body=body if whole else body[:_LISTED_MAX],
        handled=None
        if mark is None
        else HandledView(
            verb=mark.verb,
            outcome="dropped" if mark.outcome is None else mark.outcome.value,
            detail=mark.detail,
            by=mark.by,
            reason=mark.reason,
            at=mark.at,
        ),
    )


def _about(letter: MarkedLetter) -> Mapping[str, str]:
    key = (letter.kept.letter.key or b"").decode(errors="replace")
    return {"execution": key, "sha256": letter.sha256, "why": letter.kept.letter.reason}
