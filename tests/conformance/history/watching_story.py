"""What a leader notes as passes go by, for the story of the overtaken writes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from supervisor.chores.retirement import TaskRetirement
from supervisor.control.loop import Loop
from supervisor.control.reconcile import make_pass
from supervisor.control.state_recorder import StateRecorder
from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.planning.states import State, SupervisorState
from supervisor.core.spec.reader import read_spec
from supervisor.ports.store import Store
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.world import spec_document
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.world import World

RUNNING = SupervisorState(State.RUNNING, "RUNNING", healthy=True)


def notes(store: Store, world: World, loop: Loop) -> list[tuple[str, Callable[[], object]]]:
    """Return the writes, by name, behind a loop that has made a pass."""

    def term() -> int:
        return world.leadership.term()  # another one after each rival

    loop._finish(TOPIC, make_pass(TOPIC, world.shell, term()), next_s=None)
    watching = StateRecorder(store, world.clock, term, loop)
    completed = _completed_task(world)
    last = loop.last_pass(TOPIC)
    assert last is not None
    unreachable = replace(last.seen.stream, trouble=StreamTrouble.UNREACHABLE)
    silent = replace(last.seen, stream=unreachable)
    retirement = TaskRetirement(store, world.clock, term, timedelta(0))
    return [
        ("note a state", lambda: watching._note(TOPIC, RUNNING)),
        ("note a silence", lambda: watching._note_silence(silent)),
        ("sample the lag", watching.sample),
        ("put to rest", lambda: watching._put_to_rest(completed)),
        ("retire", retirement.run_once),
    ]


def _completed_task(world: World) -> SpecVersion:
    """Store a submitted task whose range is published."""
    bounds = {"startSequenceNumbers": {"0": 0}, "endSequenceNumbers": {"0": 10}}
    document = read_spec(spec_document(boundedStreamConfig=bounds)).spec
    named = document.model_copy(update={"id": "once"})
    with world.store.leading(world.leadership.term()) as tx:
        tx.offsets.initialise("once", "id-1", {TopicPartition(TOPIC, 0): 10})
        return tx.specs.append("once", named, world.clock.now(), "ann", submitted=True)
