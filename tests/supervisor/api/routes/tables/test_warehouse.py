"""What the overlord answers for in the warehouse."""

from dataclasses import replace
from typing import Any

import pytest

from supervisor.chores.segments import CONDEMNED, SEGMENT_FILES
from supervisor.control.export_outbox import announce
from supervisor.core.model.rows import TaskStatus
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueName, container_of
from supervisor.core.tables.exports import Export, copies_of
from supervisor.core.values.export_formats import ExportFormat
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import PublishOutcome
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
from tests.supervisor.api.world import NOON, World

FILES = "/api/v1/files"


@pytest.fixture
def leader(follower: World) -> Leader:
    """Whoever leads writes rows; the overlord that is asked does not lead."""
    elected = Leader(follower.store, take_lease(follower.store))
    assert elected.opens(opening("g1", 1, {P0: 0}))
    return elected


def test_an_empty_database_answers_for_nothing(follower: World) -> None:
    assert follower.get(FILES) == {
        "warehouse": "/warehouse",
        "files": [],
        "writing": [],
        "pending": [],
        "kept": [],
        "condemned": [],
        "exports": [],
        "copies": [],
        "copied": [],
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
        tx.events.add(queue, QueuedEvent(CONDEMNED, dropped.id), QueueConfig(), NOON, exempt=True)
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
        "exports": ["gone/metadata", "table/_delta_log"],
        "copies": [],
        "copied": sorted(copies_of(f"table/data/t1/{name}") for name in ("a", "b")),
    }


def test_copies_are_named_once_an_export_is_what_the_list_is(
    follower: World, leader: Leader
) -> None:
    """Goal: none is missed while it is being made, nor of a table that nobody exports."""
    old, new = (segment(f"table/data/t1/{name}", NOON) for name in ("a", "b"))
    old = replace(old, columns=(Column(name="x", type="long"),))
    new = replace(new, columns=(Column(name="x", type="double"),))
    export = Export("table", ExportFormat.DELTA, enabled=True)
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1"))
        tx.segments.add(publication("g1", "t1"), [old, new])
    nobody = named_copies(follower)
    with leader.writes() as tx:
        tx.exports.put(export)
        announce(tx, "table", NOON)
    behind = named_copies(follower)
    with leader.writes() as tx:
        tx.exports.put(replace(export, sequence=1))
    equal = named_copies(follower)
    with leader.writes() as tx:
        tx.exports.put(replace(export, sequence=1, problem="two columns differ in case only"))
    stuck = named_copies(follower)

    assert (nobody, behind, stuck) == ([], [], [])
    [copy] = equal
    assert copy["path"].startswith(f"{copies_of(old.file.path)}/")
    assert copy["rows"] == old.file.rows


def named_copies(follower: World) -> list[dict[str, Any]]:
    listing: Any = follower.get(FILES)
    return list(listing["copies"])
