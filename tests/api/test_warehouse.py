"""What the overlord answers for in the warehouse."""

import pytest

from supervisor.core.events import Event, QueueConfig, QueueName, container_of
from supervisor.core.exports import Export
from supervisor.core.model import TaskStatus
from supervisor.core.spec_exports import ExportFormat
from supervisor.segment_life import CONDEMNED, SEGMENT_FILES
from tasks.contract import PublishOutcome
from tests.api.world import NOON, World
from tests.conformance.stories import (
    CLICKS,
    P0,
    Leader,
    attempt,
    opening,
    publication,
    segment,
    take_lease,
)

FILES = "/api/v1/files"


@pytest.fixture
def leader(follower: World) -> Leader:
    """Whoever leads writes rows; the overlord that is asked does not lead."""
    made = Leader(follower.store, take_lease(follower.store))
    assert made.opens(opening("g1", 1, {P0: 0}))
    return made


def test_an_empty_database_answers_for_nothing(follower: World) -> None:
    assert follower.get(FILES) == {
        "warehouse": "/warehouse",
        "files": [],
        "writing": [],
        "pending": [],
        "kept": [],
        "condemned": [],
        "exports": [],
    }


def test_every_file_and_every_folder_that_is_not_settled_is_answered_for(
    follower: World, leader: Leader
) -> None:
    """Goal: rows alone tell it, so any overlord does."""
    with leader.writes() as tx:
        for number in range(5):
            tx.tasks.start(attempt(f"t{number}", replica=number))
        for number in range(1, 5):
            tx.tasks.end(f"t{number}", TaskStatus.FAILED, "a story", NOON)
        dropped = segment("table/data/t1/b", NOON)
        tx.segments.add(publication("g1", "t1"), [segment("table/data/t1/a", NOON), dropped])
        tx.segments.mark_unused([dropped.id], NOON)
        assert tx.segments.condemn(dropped.id, NOON, NOON)
        queue = QueueName(container_of(CLICKS), SEGMENT_FILES)
        tx.events.add(queue, Event(CONDEMNED, dropped.id), QueueConfig(), NOON, exempt=True)
        tx.tasks.store_outcome("t1", PublishOutcome.COMMITTED, published=True)
        tx.tasks.folder_deleted("t1", NOON)
        tx.tasks.store_outcome("t3", PublishOutcome.STALE, published=False)
        tx.tasks.folder_deleted("t4", NOON)
        tx.exports.put(Export("table", ExportFormat.DELTA, enabled=True))
        tx.exports.put(Export("gone", ExportFormat.ICEBERG, enabled=False))

    assert follower.get(FILES) == {
        "warehouse": "/warehouse",
        "files": [
            {
                "path": "table/data/t1/a",
                "sizeBytes": 2**40,
                "sha256": "0" * 64,
                "taskId": "t1",
            }
        ],
        "writing": ["table/data/t0"],
        "pending": ["table/data/t2"],
        "kept": ["table/data/t3"],
        "condemned": ["table/data/t1/b"],
        "exports": ["gone/metadata", "gone/widened", "table/_delta_log", "table/widened"],
    }
