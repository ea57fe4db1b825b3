"""What users and the outside do to the life of tables, at moments of their own."""

from collections.abc import Callable
from datetime import timedelta

from supervisor.chores.segments import SegmentSelection
from supervisor.core.tables.compaction import Target
from tests.simulation.faults.lives import FORMATS
from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.processes.tables.overlord import TableOverlord
from tests.simulation.processes.user import User
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import World

_USED = "SELECT id FROM segments WHERE data_source = ? AND unused_at IS NULL ORDER BY path"
_INPUTS = (
    "SELECT j.value FROM compactions c, json_each(c.inputs) j"
    " WHERE c.data_source = ? AND c.ended_at IS NULL ORDER BY 1"
)
TABLES = (SUPERVISOR, f"{SUPERVISOR}__errors")
_BYTES = 10**9
_ROWS = (20, 200, 100_000)
_AWAY_S = 25.0
_RULE_S = 12.0
"""When a table is expected to be there."""
_TRIES = 3


class TableMoments:
    """Draws what happens next to the tables, and does it."""

    def __init__(self, world: World, user: User) -> None:
        self.world = world
        self.user = user
        self.life = world.tables
        self.random = world.kernel.random("moments of tables")

    def begin(self) -> None:
        """Schedule the first moment; post the rule of the table, if it has one."""
        lives = self.life.lives
        if not lives.runs:
            return
        if (rows := lives.rule_rows) is not None:
            self.world.kernel.after(_RULE_S, lambda: self._set_rule(SUPERVISOR, rows))
            self.life.afternoon = lambda: self._set_rule(SUPERVISOR, rows)
        self.world.kernel.after(self._gap(), self._moment)

    def _gap(self) -> float:
        return self.random.expovariate((2 if self.world.quiet else 1) / self.life.lives.between_s)

    def _moment(self) -> None:
        if self.life.is_quiet:
            return
        self.world.kernel.after(self._gap(), self._moment)
        if not any(o.alive and o.leadership.leads() for o in self.world.overlords):
            return
        name = self.random.choice(self.life.lives.moments)
        self.world.kernel.trace("tables", name)
        getattr(self, "_" + name.replace(" ", "_"))()

    def _ask(self, name: str, act: Callable[[TableOverlord], object]) -> None:
        def asked(overlord: OverlordProcess) -> object:
            assert isinstance(overlord, TableOverlord)
            return act(overlord)

        self.user.ask(name, asked, _TRIES)

    def _table(self) -> str:
        return TABLES[self.random.random() < 0.2]

    # -- verbs ---------------------------------------------------------------------------------

    def _mark_unused(self) -> None:
        table = self._table()
        ids = self._ids(_USED, table)
        self._take_out(table, SegmentSelection(ids=[i for i in ids if self.random.random() < 0.4]))

    def _take_out(self, table: str, some: SegmentSelection) -> None:
        if some.ids:
            self._ask("mark unused", lambda o: o.segments.mark_unused(table, some, "user"))

    def _mark_inputs_unused(self) -> None:
        """Take a file out of the table while it is being compacted."""
        ids = self._ids(_INPUTS, SUPERVISOR)
        if ids:
            self._take_out(SUPERVISOR, SegmentSelection(ids=[self.random.choice(ids)]))

    def _change_ones_mind(self) -> None:
        """Take files out, put them back, and perhaps take them out again, within a grace time."""
        some = SegmentSelection(ids=self._ids(_USED, SUPERVISOR)[:2])
        grace_s = self.life.lives.grace_s
        after = self.world.kernel.after
        self._take_out(SUPERVISOR, some)
        after(0.3 * grace_s, lambda: self._put_back(SUPERVISOR, some))
        if self.random.random() < 0.7:
            after(0.6 * grace_s, lambda: self._take_out(SUPERVISOR, some))

    def _put_back(self, table: str, some: SegmentSelection) -> None:
        self._ask("mark used", lambda o: o.segments.mark_used(table, some, "user"))

    def _ids(self, query: str, table: str) -> list[str]:
        return [row[0] for row in self.world.store_connection.execute(query, (table,))]

    def _mark_used(self) -> None:
        self._put_back(self._table(), SegmentSelection())

    def _set_retention(self) -> None:
        keep = timedelta(seconds=self.life.lives.keep_s)
        self._ask("set retention", lambda o: o.retention.set(SUPERVISOR, keep, "user"))

    def _drop_retention(self) -> None:
        self._ask("drop retention", lambda o: o.retention.drop(SUPERVISOR, "user"))

    def _compact_now(self) -> None:
        table, target = self._table(), Target(self.random.choice(_ROWS), _BYTES)
        self._ask("compact", lambda o: o.compacting.compact(table, target, "user"))

    def _cancel_a_compaction(self) -> None:
        live = self.world.store_connection.execute(
            "SELECT id FROM compactions WHERE ended_at IS NULL ORDER BY number"
        ).fetchall()
        if live:
            wanted = self.random.choice(live)[0]
            self._ask("cancel", lambda o: o.compacting.cancel(wanted, "user"))

    def _set_compaction(self) -> None:
        self._set_rule(self._table(), self.random.choice(_ROWS))

    def _set_rule(self, table: str, rows: int) -> None:
        target, latest = Target(rows, _BYTES), timedelta(0)
        self._ask("set compaction", lambda o: o.compacting.set_rule(table, target, latest, "user"))

    def _drop_compaction(self) -> None:
        table = self._table()
        self._ask("drop compaction", lambda o: o.compacting.drop_rule(table, "user"))

    def _switch_exports(self) -> None:
        name = self.random.choice(FORMATS)
        exports = self.life.exports
        exports.remove(name) if name in exports else exports.append(name)
        self.user.apply()

    # -- troubles ------------------------------------------------------------------------------

    def _lakes_away(self) -> None:
        self.world.fault("exports away")
        self.life.lakes.away_until = self.world.kernel.now + self.random.uniform(1, _AWAY_S)

    def _warehouse_away(self) -> None:
        self.world.fault("warehouse away")
        self.life.troubles.away_until = self.world.kernel.now + self.random.uniform(0.5, 6)

    def _deletions_fail(self) -> None:
        self.world.fault("deletion fails")
        self.life.troubles.failing += 1

    def _compaction_fails(self) -> None:
        self.world.fault("compaction fails")
        self.random.choice(self.life.workers).failing_compactions += 1

    def _compaction_stuck(self) -> None:
        self.world.fault("compaction stuck")
        self.random.choice(self.life.workers).stuck_compactions += 1

    def _worker_ends_in_a_compaction(self) -> None:
        busy = [worker for worker in self.life.workers if worker.compacts]
        if busy:
            self.world.fault("worker ends in a compaction")
            power_lost = self.random.random() < 0.3
            self.world.kill(self.random.choice(busy), power_lost=power_lost)
