"""A power loss at any moment: what the journal names, and what is published, is on disk.

Where strace exists the calls are the kernel's, all of them.  The second record is made by the
interpreter: what it cannot see (writes of libraries) it takes as not durable until it is synced.
It proves the order in which our program asks for syncs, not that the system obeys.

Slow: processes are traced at every call to the system.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tasks.worker.crashes.durable import PLANTED
from tests.tasks.worker.crashes.power import Call, Disk, has_strace, recorded

pytestmark = pytest.mark.process

RECORDS = [True, False] if has_strace() else [False]
"""With strace or without it."""


@dataclass(frozen=True)
class Promise:
    """Something that must not be lost, judged before each call."""

    what: str
    moment: Callable[[Call, Path], bool]
    below: str


def _appends(call: Call, folder: Path) -> bool:
    return call.name == "write" and call.path.parent == folder / "journal"


def _begins_a_batch(call: Call, folder: Path) -> bool:
    return call.name == "mkdir" and call.path.is_relative_to(folder / "warehouse")


def _publishes(call: Call, folder: Path) -> bool:
    return call.path == folder / "published"


def _offers(call: Call, folder: Path) -> bool:
    return call.path == folder / "compacted"


PROMISES = (
    Promise("files of a batch, when the journal names it", _appends, "warehouse"),
    Promise("segments, when the overlord is asked to publish", _publishes, "warehouse"),
    Promise("the journal, when the next batch or the merge begins", _begins_a_batch, "journal"),
    Promise("the journal with the end, when it publishes", _publishes, "journal"),
    Promise("the compacted file, when it is offered", _offers, "warehouse"),
)


def broken(calls: list[Call], folder: Path) -> list[str]:
    """Return which promises a power loss could break, and what would be gone."""
    disk, broken_promises = Disk(), []
    for call in calls:
        for promise in PROMISES:
            if promise.moment(call, folder):
                lost = [p for p in disk.lost(folder / promise.below) if "README" not in p]
                broken_promises += [f"{promise.what}: {path}" for path in lost]
        disk.take(call)
    return broken_promises


@pytest.mark.parametrize("strace", RECORDS)
def test_what_is_relied_upon_is_durable_at_that_moment(tmp_path: Path, *, strace: bool) -> None:
    """Source: protocol rule P20."""
    folder = tmp_path / "site"
    folder.mkdir()
    calls = recorded(folder, strace=strace)

    appended = sum(_appends(call, folder) for call in calls)
    assert appended >= 4, "three batches and the end"
    assert any(_publishes(call, folder) for call in calls)
    assert any(_offers(call, folder) for call in calls)
    assert broken(calls, folder) == []


@pytest.mark.parametrize("strace", RECORDS)
@pytest.mark.parametrize(
    ("planted", "promise"),
    [
        ("journal before fsync", 0),
        ("publish before fsync", 1),
        ("rejects before fsync", 0),
        ("rejects before fsync", 1),
        ("compaction before fsync", 4),
        ("new folders not synced", 0),
        ("new folders not synced", 4),
        ("journal not synced", 2),
    ],
)
def test_a_sync_that_comes_too_late_is_found(
    tmp_path: Path, planted: str, promise: int, *, strace: bool
) -> None:
    """Source: protocol rule P27: these faults are planted, and this is where they are seen."""
    assert planted in PLANTED
    folder = tmp_path / "site"
    folder.mkdir()

    found = broken(recorded(folder, strace=strace, planted=planted), folder)

    assert any(line.startswith(PROMISES[promise].what) for line in found), found
