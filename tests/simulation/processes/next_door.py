"""Another supervisor on the same workers: its user, its topic, and what becomes of its spec."""

from dataclasses import dataclass
from random import Random

from tasks.contract.offsets import TopicPartition
from tests.simulation.faults.beside import HELD_BACK, Neighbour
from tests.simulation.processes.user import User
from tests.simulation.world.stored import NEIGHBOUR
from tests.simulation.world.world import World

PARTITIONS = 2
_TO_THE_FUTURE = """
    UPDATE supervisor_specs SET spec = json_set(spec, '$.ofTheFuture', 1) WHERE supervisor_id = ?
"""
_BACK = """
    UPDATE supervisor_specs SET spec = json_remove(spec, '$.ofTheFuture') WHERE supervisor_id = ?
"""
_POSTED = "SELECT 1 FROM supervisor_specs WHERE supervisor_id = ?"
_AT_WORK = """
    SELECT 1 FROM generations WHERE supervisor_id = ? AND ended_at IS NULL AND state <> 'READING'
"""


@dataclass(frozen=True)
class _Begun:
    """Who posts the spec of the other supervisor, and which one."""

    user: User
    document: dict[str, object]

    def post(self) -> None:
        """Post it, until an overlord has taken it or too many have not."""
        self.user.ask("apply another", lambda o: o.service.apply_spec(self.document, "user"), 60)


class NextDoor:
    """The other supervisor of a run, if it has one."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.kind = world.beside.neighbour
        self.random: Random = world.kernel.random("next door")
        self._unreadable = False
        self._begun: _Begun | None = None
        if self.kind in HELD_BACK:
            world.held_back.add(NEIGHBOUR)

    def begin(self, user: User) -> None:
        """Create the topic and post the spec, soon."""
        if self.kind is None:
            return
        self.world.kafka.create(NEIGHBOUR, PARTITIONS)
        if self.kind is Neighbour.FAILING:
            self.world.kafka.failing.add(NEIGHBOUR)
        self._begun = _Begun(user, self._document(user))
        self.world.kernel.after(self.random.uniform(0.0, 12.0), self._begun.post)
        self._produce()
        if self.kind in {Neighbour.UNREADABLE, Neighbour.UPGRADED}:
            self.world.kernel.after(self.random.uniform(8.0, 30.0), self._becomes_unreadable)

    def calm_down(self) -> None:
        """Let the faults of this one end as well, if they ever do."""
        if self.kind is Neighbour.UPGRADED:
            self._upgraded()
        if self._begun is not None and NEIGHBOUR not in self.world.held_back:
            self.world.kernel.after(0.5, self._post_again)

    def _post_again(self) -> None:
        """Post the spec that no overlord has taken: nobody may have led for as long as it tried."""
        if self._begun is not None and not self._is_posted():
            self._begun.post()

    def _is_posted(self) -> bool:
        db = self.world.store_connection
        return db.execute(_POSTED, (NEIGHBOUR,)).fetchone() is not None

    def is_done(self) -> bool:
        """Tell whether nothing of it waits, or it is one that cannot go on."""
        if self.kind is None or NEIGHBOUR in self.world.held_back:
            return True
        db = self.world.store_connection
        at_work = db.execute(_AT_WORK, (NEIGHBOUR,)).fetchone()
        lag = self.world.lag_of(NEIGHBOUR, (NEIGHBOUR,))
        return self._is_posted() and at_work is None and not lag

    def _document(self, user: User) -> dict[str, object]:
        document = user.document()
        spec = document["spec"]
        assert isinstance(spec, dict)
        source = {name: value for name, value in spec["ioConfig"].items() if name != "topicPattern"}
        source |= {"topic": NEIGHBOUR, "taskCount": 1, "replicas": 1, "idleConfig": None}
        source |= {"boundedStreamConfig": None, "useEarliestOffset": True, "stopTaskCount": None}
        source["taskDuration"] = f"PT{self.random.choice([6, 9, 14])}S"
        table = {**spec["dataSchema"], "dataSource": NEIGHBOUR}
        return {**document, "spec": {**spec, "dataSchema": table, "ioConfig": source}}

    def _produce(self) -> None:
        if self.world.dry:
            return
        self.world.kernel.after(self.random.uniform(0.5, 2.5), self._produce)
        if not self.world.kafka.down:
            partition = TopicPartition(NEIGHBOUR, self.random.randrange(PARTITIONS))
            self.world.kafka.produce(partition, self.random.randint(0, 6))

    # -- a spec of a newer release -------------------------------------------------------------

    def _becomes_unreadable(self) -> None:
        if self.world.quiet and self.kind is Neighbour.UPGRADED:
            return
        if not self._is_posted():
            self.world.kernel.after(2.0, self._becomes_unreadable)
            return
        self._unreadable = True
        self.world.fault("spec of a newer release")
        self._write(_TO_THE_FUTURE)
        if self.kind is Neighbour.UPGRADED:
            self.world.kernel.after(self.random.uniform(5.0, 30.0), self._upgraded)

    def _upgraded(self) -> None:
        """Overlords of the newer release take the place of the others."""
        if self._unreadable:
            self._unreadable = False
            self._write(_BACK)
            for overlord in self.world.overlords:
                self.world.kill(overlord, away_s=self.random.uniform(0.2, 2.0))

    def _write(self, statement: str) -> None:
        db = self.world.store_connection
        assert not db.in_transaction
        db.execute(statement, (NEIGHBOUR,))
        self.world.database.changed([statement.strip()])
        self.world.changed = True
