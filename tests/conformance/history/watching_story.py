"""What a leader notes as passes go by, for the story of the overtaken writes."""

from collections.abc import Callable

from supervisor.control.loop import Loop
from supervisor.control.reconcile import make_pass
from supervisor.control.state_recorder import StateRecorder
from supervisor.core.planning.states import State, SupervisorState
from supervisor.ports.store import Store
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.world import World

RUNNING = SupervisorState(State.RUNNING, "RUNNING", healthy=True)


def notes(store: Store, world: World, loop: Loop) -> list[tuple[str, Callable[[], None]]]:
    """Return the two writes, by name, behind a loop that has made a pass."""

    def term() -> int:
        return world.leadership.term()  # another one after each rival

    loop._finish(TOPIC, make_pass(TOPIC, world.shell, term()), next_s=None)
    watching = StateRecorder(store, world.clock, term, loop)
    return [
        ("note a state", lambda: watching._note(TOPIC, RUNNING)),
        ("sample the lag", watching.sample),
    ]
