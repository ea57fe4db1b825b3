"""The verb that replays bad records, and its dry run.

spec, files, counts, who reads the topic ──► Foreseen ──► dry run: with a look at the topic
└──────► act: operation and event, as one
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from supervisor.chores.replays import announce_replay
from supervisor.control.declared_types import last_spec
from supervisor.control.leadership import Leadership
from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.attention.foreseen.replays import (
    VERB,
    TopicLook,
    TopicReaders,
    replay_foreseen,
)
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.history.replays import ReplayRequest
from supervisor.core.model.rows import AuditEntry
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    FieldError,
    InvalidRequest,
    NotAllowed,
    Refused,
    SpecUnreadable,
    TooManyLooks,
    Unavailable,
)
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.ports.tables.quarantine import WantedRecords
from supervisor.ports.tables.replays import ReplaySender
from supervisor.services.foresight.expected import hold_against
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.tables.quarantine import Matching, Quarantine

MayFeed = Callable[[str, str], bool]
"""(table, topic) -> whether the caller may apply a spec that reads the topic into the table."""
MayRead = Callable[[str], bool]
_KAFKAS_OWN = "__"


@dataclass(frozen=True)
class Replays:
    """Replays of bad records; one instance per process."""

    store: Store
    clock: Clock
    leadership: Leadership
    quarantine: Quarantine
    sender: ReplaySender | None
    check: Callable[[SupervisorSpec], None]
    """Raises InvalidSpec for a spec that the operator does not allow."""
    new_token: Callable[[], str]

    def preview(
        self, supervisor_id: str, request: ReplayRequest, may_feed: MayFeed, may_read: MayRead
    ) -> Foreseen:
        """Return what a replay sends, with a look at its topic of some seconds at most.

        Raises:
            SupervisorNotFound: the id was never used.
            InvalidRequest: the supervisor itself reads the topic.
            InvalidSpec: the operator does not allow its hosts.
            NotAllowed: the topic feeds, or may feed, a table that is not the caller's.
            StorageUnavailable: the files cannot be read now.
            LeaseLost: this overlord does not lead.
        """
        with leaders_view(self.store, self.leadership) as tx:
            spec, readers = _judged(tx, supervisor_id, request, may_feed, may_read)
        self.check(spec)
        matching = self._matching(supervisor_id, request)
        look = self._look(spec, request, matching)
        return replay_foreseen(supervisor_id, request, matching.counts, readers, look)

    def request(
        self,
        supervisor_id: str,
        request: ReplayRequest,
        author: str,
        may_feed: MayFeed,
        may_read: MayRead,
        *,
        expect: str | None = None,
    ) -> Operation:
        """Have the leader send bad records to a topic; return the operation.

        Raises:
            PreviewOutdated: it would send something else than the preview has shown.
            QueueDead: the supervisor's queue of replays is damaged.
            Refused, Unavailable: as of `preview`; nothing is sent.
        """
        term = self.leadership.term()
        with self.store.reading() as tx:
            spec, readers = _judged(tx, supervisor_id, request, may_feed, may_read)
        self.check(spec)
        if expect is not None:
            counts = self._matching(supervisor_id, request).counts
            now = replay_foreseen(supervisor_id, request, counts, readers, TopicLook())
            hold_against(expect, now)
        at = self.clock.now()
        wish = Operation(
            supervisor_id,
            OperationKind.REPLAY,
            author,
            at,
            disturbs=False,
            replay=replace(request, mark=self.new_token()),
        )
        with self.store.leading(term) as tx:
            last_spec(tx, supervisor_id)  # it may have been forgotten meanwhile
            operation = tx.operations.add(wish)
            detail = {
                "topic": request.topic,
                "of": request.reason or "every reason",
                "most": str(request.most),
                "operation": operation.id,
            }
            tx.audit.write(AuditEntry(at, author, VERB, supervisor_id, detail))
            announce_replay(tx, operation, at)
        return operation

    def _matching(self, supervisor_id: str, request: ReplayRequest) -> Matching:
        wanted = WantedRecords(partition=request.partition, reason=request.reason)
        return self.quarantine.matching(supervisor_id, wanted)

    def _look(self, spec: SupervisorSpec, request: ReplayRequest, matching: Matching) -> TopicLook:
        if self.sender is None:
            return TopicLook()
        try:
            client = spec.io_config.client
            return TopicLook(self.sender.there(client, request, matching.paths))
        except TooManyLooks:  # it says nothing of the topic
            return TopicLook()
        except (Refused, Unavailable) as error:
            return TopicLook(trouble=f"as things are it would send nothing: {error}")


def _judged(
    tx: Transaction,
    supervisor_id: str,
    request: ReplayRequest,
    may_feed: MayFeed,
    may_read: MayRead,
) -> tuple[SupervisorSpec, TopicReaders]:
    if request.topic.startswith(_KAFKAS_OWN) or request.topic in {".", ".."}:
        hint = "send them to a topic of their own"
        raise InvalidRequest([FieldError("/topic", f"{request.topic} is Kafka's own", hint)])
    spec = last_spec(tx, supervisor_id)
    if not may_feed(spec.data_source, request.topic):
        raise NotAllowed(f"you may not send records of [{supervisor_id}] to this topic")
    own = {partition.topic for partition in tx.offsets.of(supervisor_id)}
    if spec.io_config.reads(request.topic) or request.topic in own:
        message = f"{supervisor_id} reads {request.topic} itself"
        hint = "send them to a topic of their own"
        raise InvalidRequest([FieldError("/topic", message, hint)])
    return spec, _readers(tx, request.topic, may_feed, may_read)


def _readers(tx: Transaction, topic: str, may_feed: MayFeed, may_read: MayRead) -> TopicReaders:
    """Return who reads a topic of this name, on whatever brokers.

    Raises:
        NotAllowed: a reader feeds a table that is not the caller's.
    """
    shown: list[str] = []
    hidden: list[str] = []
    for version in tx.specs.newest_or_unreadable():
        if isinstance(version, SpecUnreadable) or version.spec is None:
            continue
        spec = version.spec
        if not spec.io_config.reads(topic):
            continue
        if not may_feed(spec.data_source, topic):
            raise NotAllowed(f"another supervisor reads {topic} into a table that is not yours")
        (shown if may_read(spec.data_source) else hidden).append(spec.id)
    return TopicReaders(tuple(shown), tuple(hidden))
