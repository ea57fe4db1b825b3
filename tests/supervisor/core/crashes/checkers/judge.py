"""The checkers: after each batch what must never be, at the end what must have come.

X1 and so on are the names of the checks in docs/explanation/proof-of-executions.md.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import FlowPlan
from tests.supervisor.core.crashes.checkers.history import History
from tests.supervisor.core.crashes.checkers.rules import ENDS, STEP_ENDS, ExecutionRules
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import HISTORY
from tests.supervisor.core.crashes.world.world import PARTITIONS, World


@dataclass
class Judge:
    """Looks at what was made visible, and at the sink's ledger."""

    plans: dict[str, FlowPlan]
    history: History = field(default_factory=History)
    world: World = field(init=False)
    rules: ExecutionRules = field(init=False)

    def watch(self, world: World) -> None:
        """Look at a world from now on."""
        self.world, self.rules = world, ExecutionRules(self.history, world.sink)

    def see(self, records: list[Record]) -> list[str]:
        """Return what a batch of records breaks."""
        wrong = self.history.see(records)
        wrong += self.rules.effects()
        if any(isinstance(record.value, Execution) for record in records):
            wrong += self.rules.slots()
        return wrong

    def drops(self) -> Counter[str]:
        """Return how many inputs were dropped, by their reasons."""
        total: Counter[str] = Counter()
        for position in self.history.positions.values():
            total.update(position.drops)
        return total

    def is_drained(self) -> bool:
        """Whether every letter was read, and every execution is forgotten."""
        places = [(HISTORY, part) for part in range(PARTITIONS)]
        for place in places:
            position = self.history.positions.get(place[1])
            start = 0 if position is None else position.next
            if self.world.log.read(place, start)[0]:
                return False
        return set(self.history.heads) <= self.history.gone

    def at_end(self) -> list[str]:
        """Return what is not as it must be once all is over."""
        return [
            *self._rest(),
            *self._counts(),
            *self._starts(),
            *self.rules.effects(),
            *(line for name in self.history.heads for line in self.rules.execution(name)),
            *self.rules.ledger(self.history.heads),
        ]

    def _rest(self) -> Iterator[str]:
        history = self.history
        for name, head in history.heads.items():
            if head.state not in ENDS:
                runs = history.runs[name].values()
                open_ones = [
                    f"{run.step} {run.state}" for run in runs if run.state not in STEP_ENDS
                ]
                yield f"X10 {name} is {head.state} and goes no further: {', '.join(open_ones)}"
            elif name not in history.gone:
                yield f"X10 {name} is never forgotten"
        for gate in history.gates.values():
            yield f"X7 the gate {gate.name} is held by {sorted(gate.holders)}"
        if not self.is_drained():
            yield "X10 letters are left"
        if self.world.database.projected:
            yield f"X11 the projection keeps {sorted(self.world.database.projected)}"
        for record in history.dead:
            step = getattr(record.value, "run", "")
            if step != "nothing":
                yield f"X4 a letter of {record.key} is dead: {record.value}"

    def _counts(self) -> Iterator[str]:
        """X4: each input is in a version, or in a counted drop."""
        for part, position in self.history.positions.items():
            came = self.history.letters[part] + position.own
            went = position.versions + position.purged + sum(position.drops.values())
            if came != went:
                yield f"X4 partition {part} had {came} inputs, and accounts for {went}"

    def _starts(self) -> Iterator[str]:
        """X5: one execution per request; children have a parent that knows them."""
        wanted = {row.execution for row in self.world.database.rows.values() if row.plan}
        roots = {name for name, head in self.history.heads.items() if head.parent is None}
        if wanted != roots:
            yield f"X5 wanted were {sorted(wanted)}, there are {sorted(roots)}"
