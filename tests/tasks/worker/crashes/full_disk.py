"""A program: a task whose disk is full for a while; it tells what it saw as JSON.

    python -m tests.tasks.worker.crashes.full_disk KIND SCENARIO SMALL_FOLDER OTHER_FOLDER

KIND: `disk`, SMALL_FOLDER is a file system of its own, filled to the last byte; or `limit`, the
kernel refuses files of this process beyond a size.  Both are the kernel's own errors.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from tasks.contract.messages import TaskPhase
from tasks.durable_files import NoSpace
from tasks.worker.incarnations import begin_life
from tests.tasks.memory import P0, MemoryOverlord, at, desired, order
from tests.tasks.worker.plain_site import PlainSite

READ = 150
"""Offsets that are journaled before the disk is full, in batches of ten."""


class SmallDisk:
    """A place that can be filled and freed."""

    def __init__(self, kind: str, folder: Path) -> None:
        """Nothing is full yet."""
        self._kind = kind
        self.folder = folder
        self._filler = folder / "filler"
        self._hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    def fill(self, size_max: int) -> None:
        """Leave no byte; where only a size can be limited, let no file be larger than this."""
        if self._kind == "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (size_max, self._hard))
            return
        filler = os.open(self._filler, os.O_WRONLY | os.O_CREAT)
        size = 65_536
        while size:
            try:
                os.write(filler, b"x" * size)
            except OSError:
                size //= 2
        os.close(filler)

    def free(self) -> None:
        """Make room."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._hard, self._hard))
        self._filler.unlink(missing_ok=True)


def journal(disk: SmallDisk, other: Path) -> dict[str, object]:
    """The journal's disk is full while batches are read."""
    site = _reading(disk.folder, other)
    path = disk.folder / "journal" / "task-1.jsonl"
    disk.fill(path.stat().st_size + 20)
    offset = READ
    while (
        not site.runner.state.blocked_locally
    ):  # the file's last block has room for some lines more
        offset += 10
        site.log.stable = at(offset)
        site.until(lambda state: state.blocked_locally or state.position == site.log.stable)
    hindered = _hindered(site)
    disk.free()
    site.read_to(READ + 2_000)
    return hindered | _end(site, disk.folder)


def data(disk: SmallDisk, other: Path) -> dict[str, object]:
    """The warehouse's disk is full while batches are read."""
    site = _reading(other, disk.folder)
    disk.fill(200)
    site.log.stable = at(READ + 1_000)
    hindered = _hindered(site)
    disk.free()
    site.read_to(READ + 1_000)
    return hindered | _end(site, other)


def merge(disk: SmallDisk, _other: Path) -> dict[str, object]:
    """Everything is on one disk, which is full when the end comes."""
    site = _reading(disk.folder, disk.folder)
    disk.fill(200)
    site.runner.deliver_order(order(2, end=at(READ)))
    hindered = _hindered(site)
    disk.free()
    site.until(lambda state: state.phase is TaskPhase.SUCCESS)
    return hindered | _end(site, disk.folder)


def tail(disk: SmallDisk, other: Path) -> dict[str, object]:
    """A tail has to go, and the shorter journal cannot be written beside the longer one."""
    site = _reading(disk.folder, other)
    disk.fill(200)
    site.runner.deliver_order(order(2, end=at(READ - 50)))
    hindered = _hindered(site)
    disk.free()
    site.until(lambda state: state.phase is TaskPhase.SUCCESS)
    return hindered | _end(site, disk.folder)


def incarnation(disk: SmallDisk, _other: Path) -> dict[str, object]:
    """A worker starts, or a task does, on a full disk."""
    first = begin_life(disk.folder, 1_000).incarnation
    disk.fill(2)
    try:
        begin_life(disk.folder, 2_000)
        error_text = ""
    except NoSpace as error:
        error_text = str(error)
    left = sorted(path.name for path in disk.folder.iterdir() if path.name != "filler")
    disk.free()
    again = begin_life(disk.folder, 3_000).incarnation
    return {"said": error_text, "drawn": [first, again], "left": left}


SCENARIOS: dict[str, Callable[[SmallDisk, Path], dict[str, object]]] = {
    "journal": journal,
    "data": data,
    "merge": merge,
    "tail": tail,
    "incarnation": incarnation,
}


def _reading(data_dir: Path, warehouse: Path) -> PlainSite:
    site = PlainSite(data_dir, warehouse, overlord=MemoryOverlord())
    for offset in range(10, READ + 1, 10):
        site.read_to(offset)
    return site


def _hindered(site: PlainSite) -> dict[str, object]:
    """Wait until the task has tried in vain a few times."""
    site.until(lambda state: state.blocked_locally and state.tries > 2)
    reported, files = site.runner.report(), site.files()
    return {
        "said": reported.detail,
        "phase": reported.phase,
        "position": reported.position[P0],
        "half_written": sorted(files - _named(site)),
    }


def _end(site: PlainSite, data_dir: Path) -> dict[str, object]:
    """What the journal on disk and the warehouse hold now; whoever is started next sees it."""
    held = site.journals.open(desired())
    assert held is not None
    entries = held.held.entries
    published = site.overlord.published
    kept = _named(site) | {segment.path for p in published for segment in p.segments}
    kept |= {p.rejects.path for p in published if p.rejects is not None}
    return {
        "bounds": [entries[0].start[P0], *(entry.end[P0] for entry in entries)],
        "end": None if held.held.end is None else held.held.end[P0],
        "after": site.runner.report().phase,
        "detail": site.runner.report().detail,
        "orphans": sorted(site.files() - kept),
        "missing": sorted(kept - site.files()),
        "left": sorted(path.name for path in (data_dir / "journal").iterdir()),
    }


def _named(site: PlainSite) -> set[str]:
    entries = site.runner.state.entries
    named = {file.path for entry in entries for file in entry.files}
    return named | {entry.rejects.path for entry in entries if entry.rejects is not None}


if __name__ == "__main__":
    _kind, _scenario, _small, _other = sys.argv[1:]
    _outcome = SCENARIOS[_scenario](SmallDisk(_kind, Path(_small)), Path(_other))
    sys.stderr.write("told " + json.dumps(_outcome) + "\n")
