"""What a user asks that changes nothing: how it is, and whether what cannot be changed could be."""

from collections.abc import Callable, Iterator

from supervisor.control.observe import observe
from supervisor.core.planning.states import state_of
from supervisor.core.spec.sections.kafka_property_names import PROVIDER
from supervisor.core.values.errors import InvalidSpec
from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.processes.user import User
from tests.simulation.world.secret import SECRET
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import World

_LEAST_S, _MOST_S = 3.0, 12.0


class Asking:
    """Lets the user ask again and again, in the quiet too."""

    def __init__(self, world: World, user: User) -> None:
        self.world = world
        self.user = user
        self.random = world.kernel.random("asking")

    def begin(self) -> None:
        """Schedule the first question of each kind that this run has."""
        for name in self.world.swarm.rare.asks:
            self._again(getattr(self, "_" + name.replace(" ", "_")))

    def _again(self, ask: Callable[[], None]) -> None:
        def now() -> None:
            ask()
            self._again(ask)

        self.world.kernel.after(self.random.uniform(_LEAST_S, _MOST_S), now)

    def _how_it_is(self) -> None:
        self.user.ask("state", _state, 1)

    def _what_cannot_be(self) -> None:
        document = self.random.choice(list(unchangeable(self.user.document())))
        self.user.ask("preview", lambda overlord: _refused(overlord, document), 1)


def _state(overlord: OverlordProcess) -> object:
    overlord.leadership.term()
    seen = observe(SUPERVISOR, overlord.sources, overlord.clock.now())
    if seen is None:
        return None
    loop = overlord.loop
    return state_of(seen, loop.last_pass(SUPERVISOR), loop.failing(SUPERVISOR))


def _refused(overlord: OverlordProcess, document: dict[str, object]) -> None:
    """Look what a POST would do; allowed, it would tear offsets and rows apart (H5).

    Whoever is not careful posts a password as well: it is refused, and not repeated (S16).
    """
    try:
        overlord.service.apply_spec(with_the_password(document), "user")
        overlord.around.bug("a spec was stored that holds a password")
    except InvalidSpec as error:
        overlord.around.happened("told", text=f"{error} {vars(error)}")
    before, _ = overlord.service.newest(SUPERVISOR)
    try:
        overlord.service.preview(document)
    except InvalidSpec:
        return
    if overlord.service.newest(SUPERVISOR)[0].version == before.version:
        overlord.around.bug("a spec was allowed that changes what cannot be changed")


def with_the_password(document: dict[str, object]) -> dict[str, object]:
    """Return the same spec with the password itself in the place of its reference."""
    spec = document["spec"]
    assert isinstance(spec, dict)
    source = spec["ioConfig"]
    properties = {**source["consumerProperties"], "sasl.password": SECRET}
    del properties[PROVIDER]
    changed = {**source, "consumerProperties": properties}
    return {**document, "spec": {**spec, "ioConfig": changed}}


def unchangeable(document: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yield specs of the same supervisor, each with one change that nobody can make."""
    spec = document["spec"]
    assert isinstance(spec, dict)
    source, bounds = spec["ioConfig"], spec["ioConfig"]["boundedStreamConfig"]
    named = {**document, "id": SUPERVISOR}

    def reading(**changes: object) -> dict[str, object]:
        return {**named, "spec": {**spec, "ioConfig": {**source, **changes}}}

    kind = "topic" if "topic" in source else "topicPattern"
    yield reading(**{kind: f"other-than-{SUPERVISOR}"})
    table = {**spec["dataSchema"], "dataSource": "others"}
    yield {**named, "spec": {**spec, "dataSchema": table}}
    if bounds is not None:
        yield reading(boundedStreamConfig=None)
        ends = {number: end + 1 for number, end in bounds["endSequenceNumbers"].items()}
        late = {"startSequenceNumbers": dict.fromkeys(ends, 1), "endSequenceNumbers": ends}
        yield reading(boundedStreamConfig=late)
    elif kind == "topic":
        first = {"startSequenceNumbers": {"0": 0}, "endSequenceNumbers": {"0": 5}}
        yield reading(boundedStreamConfig=first, useEarliestOffset=None)
