"""A full disk: the task waits, says where and what to do, and goes on when there is space.

The errors are the kernel's: ENOSPC of a small file system where one can be mounted, and in any
case EFBIG of a limit of file sizes (RLIMIT_FSIZE), which needs no right.

Slow: small file systems are filled, and freed again.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.environment.small_disks import can_mount, mounted
from tests.tasks.worker.crashes.full_disk import READ

pytestmark = pytest.mark.process

KINDS = ["limit", *(["disk"] if can_mount() else [])]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def small(kind: str, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    if kind == "limit":
        yield folder
        return
    with mounted(folder, size="1m"):
        yield folder


def outcome_of(kind: str, scenario: str, small: Path) -> dict[str, Any]:  # values of several types
    """Run a scenario in a process of its own and return what it saw."""
    other = small.parent / "other"
    other.mkdir()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.tasks.worker.crashes.full_disk",
            kind,
            scenario,
            str(small),
            str(other),
        ],
        cwd=Path(__file__).parents[4],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,  # the log
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    [line] = [line for line in done.stderr.splitlines() if line.startswith("told ")]
    found: dict[str, Any] = json.loads(line.removeprefix("told "))
    return found


def waits_and_says(seen: dict[str, Any], where: Path) -> None:
    assert str(where) in seen["said"]
    assert "free some" in seen["said"]
    assert seen["phase"] in {"READING", "FINISHING"}
    assert seen["position"] == READ
    assert seen["half_written"] == []


def goes_on(seen: dict[str, Any], end: int) -> None:
    bounds = seen["bounds"]
    assert (bounds[0], bounds[-1]) == (0, end)
    assert bounds == sorted(set(bounds)), "each offset is in one batch"
    assert (seen["orphans"], seen["missing"]) == ([], [])
    assert seen["left"] == ["task-1.jsonl"]
    assert seen["detail"] in {"", "because committed"}


def test_a_batch_that_the_journal_has_no_space_for_is_journaled_when_it_has(
    kind: str, small: Path
) -> None:
    """Goal: half a line is never followed by another; the batch is not read again."""
    seen = outcome_of(kind, "journal", small)

    assert seen["position"] >= READ  # a full disk may have had room for a line more
    assert str(small / "journal") in seen["said"]
    goes_on(seen, READ + 2_000)


def test_a_batch_that_the_warehouse_has_no_space_for_is_read_when_it_has(
    kind: str, small: Path
) -> None:
    seen = outcome_of(kind, "data", small)

    waits_and_says(seen, small)
    goes_on(seen, READ + 1_000)


def test_a_range_is_merged_and_published_when_there_is_space(kind: str, small: Path) -> None:
    seen = outcome_of(kind, "merge", small)

    waits_and_says(seen, small)
    goes_on(seen, READ)
    assert seen["after"] == "SUCCESS"


def test_a_tail_is_dropped_when_there_is_space_and_not_in_parts(kind: str, small: Path) -> None:
    """Source: protocol rule P14."""
    seen = outcome_of(kind, "tail", small)

    waits_and_says(seen, small)
    goes_on(seen, READ - 50)
    assert (seen["after"], seen["end"]) == ("SUCCESS", READ - 50)


def test_an_incarnation_that_cannot_be_stored_is_not_used(kind: str, small: Path) -> None:
    """Source: protocol rule P7: else the same number could be drawn twice."""
    seen = outcome_of(kind, "incarnation", small)

    assert str(small / "incarnation") in seen["said"]
    assert "free some" in seen["said"]
    assert seen["left"] == ["incarnation", "last-end"]
    assert seen["drawn"] == [1_000, 3_000]
