"""The archive of history in the overview: from rows, whoever leads."""

from supervisor.core.attention.archive import UNSTORED_AFTER
from supervisor.core.history.archive import ArchivePosition
from supervisor.ports.store import Transaction
from tasks.reporting.record import RecordType
from tests.supervisor.api.routes.cluster.overview.answers import items
from tests.supervisor.api.world import SUPERVISORS, TOPIC, World

_KIND = "archive-behind"


def _shown(world: World) -> list[str]:
    return [str(each["text"]) for each in items(world) if each["kind"] == _KIND]


def _has_all(tx: Transaction) -> None:
    newest = {RecordType.EVENT: tx.happenings.newest(), RecordType.AUDIT: tx.archive.newest_entry()}
    for kind, number in newest.items():
        tx.archive.put(kind, ArchivePosition(sent_to=number, stored_to=number))


def test_history_that_is_not_stored_for_long_is_an_item(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    world.clock.advance(UNSTORED_AFTER)
    world.leadership.step()
    assert _shown(world) == [], "there is no archive"

    with world.store.leading(world.leadership.term()) as tx:
        _has_all(tx)
    assert _shown(world) == []
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    assert _shown(world) == [], "it has just happened"
    world.clock.advance(UNSTORED_AFTER)
    world.leadership.step()

    [text] = _shown(world)
    assert "and 1 audit entry, the oldest 15 min old" in text
    with world.store.leading(world.leadership.term()) as tx:
        _has_all(tx)
    assert _shown(world) == []
