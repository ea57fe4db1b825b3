"""Mistakes in the model of an engine: they show that a checker would see them in a real one.

The engines on Kafka and in the event queue are not there yet: each of these becomes a fault of
theirs, with a test of the real path.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.reduced import StepCall
from tests.simulation.planted.patches import Function, Mutant, Patches
from tests.supervisor.core.crashes.processes.others import Projector, Relay
from tests.supervisor.core.crashes.processes.runner import RunnerLife
from tests.supervisor.core.crashes.processes.sequencer import Batch, Owned, Sequencer
from tests.supervisor.core.crashes.world.group import Database, Registry
from tests.supervisor.core.crashes.world.log import Producer, Record
from tests.supervisor.core.crashes.world.messages import CALLS, HISTORY, POSITION, STATE
from tests.supervisor.core.crashes.world.sink import UNKNOWN, Sink

_MODEL = "the model of the engine; no engine is there yet"


def _position_outside(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def entries(self: Sequencer, owned: Owned, batch: Batch) -> object:
            place = (STATE, owned.part)
            self.world.log.append(place, POSITION, batch.position)
            return whole(self, owned, batch)[:-1]

        return entries

    patches.method(Sequencer, "entries", make)


def _no_takeover(patches: Patches) -> None:
    def producer(self: Sequencer, part: int) -> Producer:
        log, name = self.world.log, f"seq-{part}"
        if name not in log._epochs:
            return log.producer(name)
        return Producer(log, name, log._epochs[name])

    patches.method(Sequencer, "producer", lambda _: producer)


def _random_transactional_id(patches: Patches) -> None:
    def producer(self: Sequencer, part: int) -> Producer:
        return self.world.log.producer(f"seq-{part}-{self.world.next_life()}")

    patches.method(Sequencer, "producer", lambda _: producer)


def _state_kept_over_a_revoke(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def take(self: Sequencer, part: int) -> Iterator[str]:
            kept = getattr(self, "kept", {}).get(part)
            yield from whole(self, part)
            if kept is not None and part in self.owned:
                self.owned[part] = replace(self.owned[part], entities=kept)

        return take

    def forget(self: Sequencer, part: int) -> None:
        owned = self.owned.pop(part, None)
        if owned is not None:
            vars(self).setdefault("kept", {})[part] = owned.entities

    patches.method(Sequencer, "take", make)
    patches.method(Sequencer, "forget", lambda _: forget)


def _abort_without_going_back(patches: Patches) -> None:
    def aborted(self: Sequencer, owned: Owned, batch: Batch) -> None:
        del self
        owned.position = batch.position

    patches.method(Sequencer, "aborted", lambda _: aborted)


def _calls_before_the_commit(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def entries(self: Sequencer, owned: Owned, batch: Batch) -> object:
            for place, key, value in [one for one in batch.out if one[0][0] == CALLS]:
                self.world.log.append(place, key, value)
            batch.out = [one for one in batch.out if one[0][0] != CALLS]
            return whole(self, owned, batch)

        return entries

    patches.method(Sequencer, "entries", make)


def _messages_outside(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def take_over(self: Sequencer, owned: Owned, batch: Batch) -> None:
            whole(self, owned, batch)
            for place, key, value in getattr(batch, "late", []):
                self.world.log.append(place, key, value)

        return take_over

    def make_entries(whole: Function) -> Function:
        def entries(self: Sequencer, owned: Owned, batch: Batch) -> object:
            late = [one for one in batch.out if one[0][0] == HISTORY]
            vars(batch)["late"] = late
            batch.out = [one for one in batch.out if one[0][0] != HISTORY]
            return whole(self, owned, batch)

        return entries

    patches.method(Sequencer, "take_over", make)
    patches.method(Sequencer, "entries", make_entries)


def _creation_without_a_filter(patches: Patches) -> None:
    patches.method(Sequencer, "is_known", lambda _: lambda self, entity: False)  # noqa: ARG005


def _run_before_the_grant(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def take(self: RunnerLife, job: StepCall, record: Record) -> object:
            sent = whole(self, job, record)
            if not job.check and self.world.chance.random() < 0.2:
                self.pending.pop((job.run, job.attempt), None)
                self.begin(job)
            return sent

        return take

    patches.method(RunnerLife, "take", make)


def _refused_runs_all_the_same(patches: Patches) -> None:
    patches.method(RunnerLife, "may_run", lambda _: lambda self, *, granted: True)  # noqa: ARG005


def _offset_before_the_claim(patches: Patches) -> None:
    patches.method(RunnerLife, "is_safe", lambda _: lambda self, sent: True)  # noqa: ARG005


def _lives_are_one(patches: Patches) -> None:
    """Every life of a runner has the same incarnation."""

    def make(whole: Function) -> Function:
        def begin_anew(self: RunnerLife) -> None:
            whole(self)
            self.runner = replace(self.runner, incarnation="1")

        return begin_anew

    patches.method(RunnerLife, "begin_anew", make)


def _nobody_is_ever_dead(patches: Patches) -> None:
    patches.method(Registry, "is_dead", lambda _: lambda self, runner, now: False)  # noqa: ARG005


def _mark_before_it_is_in_the_log(patches: Patches) -> None:
    patches.method(Relay, "is_safe", lambda _: lambda self, sent: True)  # noqa: ARG005


def _purge_before_its_time(patches: Patches) -> None:
    def may_purge(self: Relay, execution: Execution) -> bool:
        del self
        return bool(execution.state.ended)

    patches.method(Relay, "may_purge", lambda _: may_purge)


def _projection_without_its_offset(patches: Patches) -> None:
    def project(self: Database, part: int, start: int, end: int, heads: list[Execution]) -> None:
        del start
        self.offsets[part] = end
        for head in heads:
            self.projected[head.id] = head

    patches.method(Database, "project", lambda _: project)


def _offset_before_the_projection(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def steps(self: Projector) -> Iterator[str]:
            for step in whole(self):
                if step == "project":
                    for part in range(2):
                        log, place = self.world.log, (STATE, part)
                        self.world.database.offsets[part] = log.read(place, 0)[1]
                yield step

        return steps

    patches.method(Projector, "steps", make)


def _refused_connection_is_known(patches: Patches) -> None:
    """The runner takes a call that nobody has answered for one that has failed."""

    def make(whole: Function) -> Function:
        def call(self: Sink, job: StepCall, life: str, now: datetime) -> object:
            outcome = whole(self, job, life, now)
            if getattr(outcome, "error", None) is UNKNOWN:
                return replace(outcome, error=replace(UNKNOWN, known=True))
            return outcome

        return call

    patches.method(Sink, "call", make)


def _drops_are_not_counted(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def drop(self: Sequencer, batch: Batch, reason: str) -> None:
            if reason != "old_attempt":
                whole(self, batch, reason)

        return drop

    patches.method(Sequencer, "drop", make)


def _of(name: str, rule: str, story: str, plant: Callable[[Patches], None]) -> Mutant:
    return Mutant(name, rule, story, plant, stand_in=_MODEL)


MUTANTS = (
    _of("position-outside", "X4", "the position is written before the batch", _position_outside),
    _of("no-takeover", "X1", "a new owner does not fence the old one", _no_takeover),
    _of(
        "random-transactional-id",
        "X1",
        "each life of an owner has an id of its own",
        _random_transactional_id,
    ),
    _of(
        "state-kept-over-a-revoke",
        "X1",
        "who owned a partition before goes on from then",
        _state_kept_over_a_revoke,
    ),
    _of(
        "abort-without-going-back",
        "X4",
        "what was read in an aborted batch is not read again",
        _abort_without_going_back,
    ),
    _of(
        "calls-before-the-commit",
        "X3",
        "a call is written before its SUBMITTED",
        _calls_before_the_commit,
    ),
    _of("messages-outside", "X10", "messages are written after the commit", _messages_outside),
    _of(
        "creation-without-a-filter",
        "X1",
        "a creation that comes twice begins anew",
        _creation_without_a_filter,
    ),
    _of("run-before-the-grant", "X3", "a runner begins before it may", _run_before_the_grant),
    _of("refused-runs-all-the-same", "X3", "a refusal is not read", _refused_runs_all_the_same),
    _of(
        "offset-before-the-claim",
        "X10",
        "a call is marked before its claim is in the log",
        _offset_before_the_claim,
    ),
    _of("lives-are-one", "X10", "two lives of a runner are not told apart", _lives_are_one),
    _of("nobody-is-ever-dead", "X10", "a runner that died is waited for", _nobody_is_ever_dead),
    _of(
        "mark-before-it-is-in-the-log",
        "X5",
        "the relay marks what it has not sent",
        _mark_before_it_is_in_the_log,
    ),
    _of(
        "purge-before-its-time", "X5", "what has ended is forgotten at once", _purge_before_its_time
    ),
    _of(
        "projection-without-its-offset",
        "X11",
        "a projection is overwritten by an older batch",
        _projection_without_its_offset,
    ),
    _of(
        "offset-before-the-projection",
        "X10",
        "the projector's offset is stored first",
        _offset_before_the_projection,
    ),
    _of(
        "refused-connection-is-known",
        "X3",
        "a call without an answer counts as one that has failed",
        _refused_connection_is_known,
    ),
    _of("drops-are-not-counted", "X4", "a drop is not counted", _drops_are_not_counted),
)
