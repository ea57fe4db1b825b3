"""The model of a sequencer: it owns partitions, and writes everything of a batch in one go.

    takeover ─► restore ─► ( reduce ─► produce ─► commit ─► know )*

Each word is a step before which the process can die or freeze.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.gates import Gate, reduce_gate
from supervisor.core.executions.inputs import (
    AttemptLost,
    Begin,
    SlotFreed,
    SlotWanted,
    Tick,
)
from supervisor.core.executions.reduce import reduce_execution
from supervisor.core.executions.reduced import (
    Cancel,
    ClaimReply,
    Drop,
    Message,
    Reduced,
    Send,
    SendGate,
    StartBatch,
    StartChild,
)
from supervisor.core.executions.states import AttemptState
from supervisor.core.executions.timers import next_due
from supervisor.core.flows.children import CalledFlow, begin_child
from tests.supervisor.core.crashes.world.log import Fenced, Place, Producer
from tests.supervisor.core.crashes.world.messages import (
    CALLS,
    DEAD,
    HISTORY,
    POSITION,
    RESULTS,
    STATE,
    Addressed,
    Created,
    EventOf,
    Letter,
    Position,
    Purged,
)
from tests.supervisor.core.crashes.world.world import LANGUAGE, World, partition_of

Entity = Execution | Gate


@dataclass
class Owned:
    """What a sequencer knows of a partition that it owns."""

    part: int
    producer: Producer
    entities: dict[str, Entity]
    position: Position


@dataclass
class Batch:
    """What one transaction will write."""

    entities: dict[str, Entity | None]
    """New versions; None: forgotten."""
    position: Position
    out: list[tuple[Place, str, object]] = field(default_factory=list)
    changed: dict[str, frozenset[str]] = field(default_factory=dict)
    """Execution -> the task runs that are other than before."""


@dataclass
class Sequencer:
    """One life of a sequencer."""

    world: World
    name: str
    owned: dict[int, Owned] = field(default_factory=dict)

    def beat(self) -> None:
        """Stay a member of the group."""
        self.world.executors.poll(self.name, self.world.now)

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        world = self.world
        while True:
            mine = world.executors.owned(self.name, world.now)
            for part in [part for part in self.owned if part not in mine]:
                self.forget(part)
            for part in sorted(mine):
                try:
                    if part not in self.owned:
                        yield from self.take(part)
                    if part in self.owned:
                        yield from self.turn(self.owned[part])
                except Fenced:
                    world.faults["a sequencer is fenced"] += 1
                    self.forget(part)
            yield "poll"

    def forget(self, part: int) -> None:
        """Use nothing any more of a partition that another may own."""
        self.owned.pop(part, None)

    def producer(self, part: int) -> Producer:
        """Take the partition's transactional id over."""
        return self.world.log.producer(f"seq-{part}")

    def take(self, part: int) -> Iterator[str]:
        """Become the owner of a partition, and read its state."""
        world = self.world
        yield "takeover"
        producer = self.producer(part)
        yield "restore"
        if part not in world.executors.owned(self.name, world.now):
            return
        entities, position = self.restore(part)
        self.owned[part] = Owned(part, producer, entities, position)

    def restore(self, part: int) -> tuple[dict[str, Entity], Position]:
        """Return what the state topic holds."""
        records, _ = self.world.log.read((STATE, part), 0)
        newest = {record.key: record.value for record in records}
        position = newest.pop(POSITION, Position(0, self.world.now))
        entities: dict[str, Entity] = {}
        for key, value in newest.items():
            if isinstance(value, Execution):
                prefix = f"{key}/r/"
                runs = {
                    name.removeprefix(prefix): run
                    for name, run in newest.items()
                    if name.startswith(prefix) and isinstance(run, TaskRun)
                }
                entities[value.id] = replace(value, runs=runs)
            elif isinstance(value, Gate):
                entities[value.name] = value
        if not isinstance(position, Position):
            raise TypeError(position)
        return entities, position

    def turn(self, owned: Owned) -> Iterator[str]:
        """Work one batch in."""
        world = self.world
        most = world.chance.randint(1, 8)
        records, following = world.log.read((HISTORY, owned.part), owned.position.next, most)
        letters = [(record.key, record.value) for record in records]
        own = self.own_inputs(owned)
        if not letters and not own:
            return
        yield "reduce"
        batch = self.reduce(owned, [*own, *letters], len(own), following)
        yield "produce"
        yield from self.write(owned, batch)
        self.take_over(owned, batch)

    def write(self, owned: Owned, batch: Batch) -> Iterator[str]:
        """Write a batch in one transaction."""
        world, producer = self.world, owned.producer
        for number, entry in enumerate(self.entries(owned, batch)):
            producer.write(*entry)
            if number == 1 and world.chance.random() < 0.3:
                yield "produce the rest"
        yield "commit"
        if world.broker_away or (world.trouble and world.chance.random() < 0.03):
            world.faults["a transaction is aborted"] += 1
            producer.abort()
            self.aborted(owned, batch)
            batch.entities, batch.position = {}, owned.position
            return
        producer.commit()
        yield "know"

    def aborted(self, owned: Owned, batch: Batch) -> None:
        """Go on from the state before: it was never touched."""

    def take_over(self, owned: Owned, batch: Batch) -> None:
        """Let the new states become the old ones."""
        for name, entity in batch.entities.items():
            if entity is None:
                owned.entities.pop(name, None)
            else:
                owned.entities[name] = entity
        owned.position = batch.position

    def own_inputs(self, owned: Owned) -> list[tuple[str, object]]:
        """Return what follows from times and from runners that are dead."""
        world, inputs = self.world, list[tuple[str, object]]()
        for entity in owned.entities.values():
            if not isinstance(entity, Execution) or entity.state.ended:
                continue
            due = next_due(entity)
            if due is not None and due <= max(world.now, owned.position.last):
                inputs.append((entity.id, Addressed(Tick())))
            for run in entity.runs.values():
                attempt = run.attempt
                if attempt is None or attempt.state is not AttemptState.RUNNING:
                    continue
                if attempt.runner and world.registry.is_dead(attempt.runner, world.now):
                    lost = AttemptLost(run.id, attempt.number, attempt.runner)
                    inputs.append((entity.id, Addressed(lost)))
        return inputs

    def reduce(
        self, owned: Owned, letters: list[tuple[str, object]], own: int, following: int
    ) -> Batch:
        """Reduce a batch; nothing that is owned is touched."""
        before = owned.position
        position = Position(
            following,
            max(self.world.now, before.last),
            before.own + own,
            before.versions,
            before.purged,
            before.drops.copy(),
        )
        batch = Batch({}, position)
        for key, value in letters:
            self.reduce_one(owned, batch, key, value)
        return batch

    def reduce_one(self, owned: Owned, batch: Batch, key: str, value: object) -> None:
        """Work one letter in; one that cannot be read is a dead letter."""
        entity = batch.entities[key] if key in batch.entities else owned.entities.get(key)
        match value:
            case Created(execution):
                if self.is_known(entity):
                    self.drop(batch, "known")
                else:
                    self.apply(batch, execution, Begin())
            case Addressed(SlotWanted() | SlotFreed() as wanted):
                gate = entity if isinstance(entity, Gate) else Gate(key)
                self.take_gate(batch, reduce_gate(gate, wanted))
            case Addressed(given):
                if isinstance(entity, Execution):
                    self.apply(batch, entity, given)
                else:
                    self.drop(batch, Drop.NOT_LIVE)
            case Purged():
                if isinstance(entity, Execution) and entity.state.ended:
                    batch.position = replace(batch.position, purged=batch.position.purged + 1)
                    batch.entities[key] = None
                    batch.changed[key] = frozenset(entity.runs)
                else:
                    self.drop(batch, "purged")
            case _:
                self.drop(batch, "undecodable")
                batch.out.append(((DEAD, 0), key, value))

    def is_known(self, entity: Entity | None) -> bool:
        """Whether a creation is a repeat."""
        return entity is not None

    def drop(self, batch: Batch, reason: str) -> None:
        """Count an input that changes nothing."""
        batch.position.drops[str(reason)] += 1

    def apply(self, batch: Batch, execution: Execution, given: object) -> None:
        """Reduce one input of an execution."""
        reduced = reduce_execution(execution, given, batch.position.last, LANGUAGE)  # type: ignore[arg-type]
        name = execution.id
        self.count(batch, reduced)
        if reduced.dropped is None:
            batch.entities[name] = reduced.entity
            batch.changed[name] = batch.changed.get(name, frozenset()) | reduced.changed
        elif reduced.dropped.dead:
            batch.out.append(((DEAD, 0), name, given))
        for call in reduced.calls:
            batch.out.append(((CALLS, partition_of(call.run)), call.run, call))
        for message in reduced.messages:
            batch.out.append(self.route(message, batch))
        place = (RESULTS, partition_of(name))
        batch.out += [(place, name, EventOf(name, event)) for event in reduced.events]

    def take_gate(self, batch: Batch, reduced: Reduced[Gate]) -> None:
        """Keep a gate's next version; one at rest is not kept."""
        self.count(batch, reduced)
        gate = reduced.entity
        if reduced.dropped is None:
            batch.entities[gate.name] = None if gate.at_rest else gate
        batch.out += [self.route(message, batch) for message in reduced.messages]

    def count(self, batch: Batch, reduced: Reduced[Execution] | Reduced[Gate]) -> None:
        """Count what became of an input."""
        if reduced.dropped is not None:
            self.drop(batch, reduced.dropped)
        else:
            batch.position = replace(batch.position, versions=batch.position.versions + 1)

    def route(self, message: Message, batch: Batch) -> tuple[Place, str, object]:
        """Return the topic, the key and the value of a message."""
        match message:
            case Send(execution, given):
                return self.letter(execution, Addressed(given))
            case SendGate(gate, wanted):
                return self.letter(gate, Addressed(wanted))
            case ClaimReply(runner=runner) | Cancel(runner=runner):
                return (RESULTS, 0), runner.name, message
            case StartChild():
                return self.child(message, batch)
            case StartBatch(new):
                return self.letter(new.id, Created(new))

    def child(self, message: StartChild, batch: Batch) -> tuple[Place, str, object]:
        """Return the letter that creates a child, or the one to its parent why there is none."""
        plan = self.world.flows.get(message.flow)
        called = None if plan is None else CalledFlow(plan)
        begun = begin_child(message, called, batch.position.last)
        if isinstance(begun, Send):
            return self.letter(begun.execution, Addressed(begun.input))
        return self.letter(begun.id, Created(begun))

    @staticmethod
    def letter(entity: str, letter: Letter) -> tuple[Place, str, object]:
        """Return a record for the owner of an entity."""
        return (HISTORY, partition_of(entity)), entity, letter

    def entries(self, owned: Owned, batch: Batch) -> list[tuple[Place, str, object]]:
        """Return every record of a batch: changed states, what goes out, the position."""
        place = (STATE, owned.part)
        entries: list[tuple[Place, str, object]] = []
        for name, entity in batch.entities.items():
            runs = sorted(batch.changed.get(name, ()))
            if isinstance(entity, Execution):
                entries.append((place, f"e/{name}", replace(entity, runs={})))
                entries += [(place, f"e/{name}/r/{run}", entity.runs[run]) for run in runs]
            elif name in batch.changed:
                entries += [(place, f"e/{name}/r/{run}", None) for run in runs]
                entries.append((place, f"e/{name}", None))
            else:
                entries.append((place, f"g/{name}", entity))
        entries += batch.out
        return [*entries, (place, POSITION, batch.position)]
