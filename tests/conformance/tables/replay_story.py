"""The replays of the story in `tests/conformance/metadata/test_write_skew.py`, wanted and done."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.adapters.tables.quarantined_records import DuckRecords
from supervisor.chores.replays import KIND, NUMBER, Replaying
from supervisor.core.history.operations import Operation
from supervisor.core.history.replays import ReplayRequest
from supervisor.core.queue.events import QueuedEvent
from supervisor.eventqueue.handling import Context
from supervisor.ports.store import Store
from supervisor.services.tables.bad_counts import BadCounts
from supervisor.services.tables.quarantine import Quarantine
from supervisor.services.tables.replays import Replays
from tests.supervisor.chores.test_replays import Sender
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.world import World


class Story(Protocol):
    """The story, as far as it is needed here."""

    world: World
    warehouse: MemoryWarehouse

    def does(self, name: str, act: Callable[[], object]) -> None: ...
    def context(self) -> Context: ...


def replays_are_sent(story: Story, store: Store) -> None:
    """Let the wish for a replay be overtaken, and then the leader that is about to send it."""
    world, asked, records = story.world, list[Operation](), DuckRecords(Path())
    request = ReplayRequest("clicks-again", "", None)

    def ask() -> None:
        replays = Replays(
            store,
            world.clock,
            world.leadership,  # another one after each rival
            Quarantine(store, records, BadCounts(records)),
            Sender(),
            lambda _: None,
            lambda: "mark",
        )
        asked.append(replays.request(TOPIC, request, "ann", lambda *_: True, lambda _: True))

    story.does("want a replay", ask)
    event = QueuedEvent(KIND, asked[-1].id, {NUMBER: asked[-1].number})
    handler = Replaying(Sender(), story.warehouse, world.clock)
    story.does("replay", lambda: handler([event], story.context()))
