"""What a person's console asks of a leader, beside the running loop of a large fleet."""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.result import Spread, spread
from bench.year.plane import Plane, open_plane
from bench.year.shape import FleetShape
from bench.year.syncs import FleetWorkers
from supervisor.core.history.lag import Lag

ROWS = 200
"""Rows of the list that a page shows at once."""
POLL_S = 5.0
"""How often an open page asks again."""
_BEAT_S = 30.0
"""Between two passes over a supervisor at rest."""
_SEEN_S = 600.0
_WARM_UP = 5
DRAWN = 40
"""Rows of the list that a window shows, with their lag of a day."""
LAG_S = 60.0
"""How often an open list asks for that."""
_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_WINDOW_S = 60.0
_WINDOWS = 2
_MIB = 2**20


@dataclass(frozen=True)
class ConsoleRun:
    """What the pages of one fleet cost."""

    shape: FleetShape
    answers_ms: Mapping[str, Spread]
    """Question -> milliseconds of its answer, beside the passes of the loop."""
    sizes_mib: Mapping[str, float]
    """Question -> size of its answer before gzip."""
    alone_cores: Spread
    """CPU of the overlord while nobody asks."""
    listed_cores: Spread
    """The same while one page with the list is open."""


def measure_console(folder: Path, supervisors: int, calls: int) -> ConsoleRun:
    """Let a fleet's loop run, and ask what the pages ask; each question `calls` times."""
    with open_fleet(folder, supervisors) as (shape, plane):
        _add_lag(plane)
        took, sizes = _ask_in_turns(plane, calls)
        alone, listed = _open_list(plane)
    return ConsoleRun(shape, took, sizes, alone, listed)


@contextmanager
def open_fleet(folder: Path, supervisors: int) -> Iterator[tuple[FleetShape, Plane]]:
    """Lead over a new fleet without history, whose loop runs and has looked at all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = FleetShape(
        supervisors=supervisors,
        groups=4,
        replicas=1,
        partitions=25,
        ranges=0,
        compacted_every=0,
        workers=max(1, supervisors // 20),
    )
    with open_plane(f"sqlite:///{folder}/console-{supervisors}.db", shape, folder) as plane:
        FleetWorkers(plane).report()
        plane.loop.forget()  # the first reports wake every supervisor at once
        plane.loop.start()
        try:
            _pass_over_all(plane)
            yield shape, plane
        finally:
            plane.loop.stop()


def questions(name: str) -> dict[str, str]:
    """Return what a page asks -> its path."""
    return {
        "overview": "/api/v1/overview",
        "list": f"/api/v1/supervisors?limit={ROWS}&sort=-lagRecords",
        "partitions": f"/api/v1/supervisors/{name}/partitions?limit=100",
    }


def _pass_over_all(plane: Plane) -> None:
    """Wait until the loop has looked at each supervisor once."""
    names = plane.chronicle.names
    for number, name in enumerate(names):  # a fleet that has run for a while has no common beat
        plane.loop.wake(name, in_s=_BEAT_S * number / len(names))
    unseen = set(names)
    ends = time.monotonic() + _SEEN_S
    wait = threading.Event()
    while unseen := {name for name in unseen if plane.loop.last_pass(name) is None}:
        if time.monotonic() > ends:
            raise TimeoutError(f"{len(unseen)} supervisors had no pass within {_SEEN_S:.0f} s")
        wait.wait(0.1)


def _ask_in_turns(plane: Plane, calls: int) -> tuple[dict[str, Spread], dict[str, float]]:
    names: Sequence[str] = plane.chronicle.names
    took: dict[str, list[float]] = {}
    sizes: dict[str, float] = {}
    for number in range(_WARM_UP + calls):
        for question, path in questions(names[number % len(names)]).items():
            ms, size = _asked(plane, path)
            sizes[question] = size / _MIB
            if number >= _WARM_UP:
                took.setdefault(question, []).append(ms)
    return {question: spread(values) for question, values in took.items()}, sizes


def _asked(plane: Plane, path: str) -> tuple[float, int]:
    began = time.perf_counter()
    answer = asyncio.run(plane.call("GET", path))
    return (time.perf_counter() - began) * 1000, len(answer)


def _open_list(plane: Plane) -> tuple[Spread, Spread]:
    """Return the cores that are busy without an open list and with one, in turns."""
    names = plane.chronicle.names
    ids = "&".join(f"id={name}" for name in names[:DRAWN])
    page = {questions(names[0])["list"]: POLL_S, f"/api/v1/lag?step=PT30M&{ids}": LAG_S}
    turns = [(_busy(plane, {}), _busy(plane, page)) for _ in range(_WINDOWS)]
    alone, listed = zip(*turns, strict=True)
    return spread(alone), spread(listed)


def _add_lag(plane: Plane) -> None:
    """Store a sample a minute over a day of those that a page draws."""
    now = datetime.now(UTC)
    lag = dict.fromkeys(plane.chronicle.names[:DRAWN], Lag(1_000, timedelta(seconds=1)))
    with plane.store.leading(plane.leadership.term()) as tx:
        for minute in range(_DAY // _MINUTE, 0, -1):
            tx.watched.add_lag(now - minute * _MINUTE, lag, now - _DAY)


def _busy(plane: Plane, page: Mapping[str, float]) -> float:
    """Return the process's CPU by time over a window; `page`: path -> how often it asks, in s."""
    began, cpu = time.monotonic(), time.process_time()
    wait = threading.Event()
    due = dict.fromkeys(page, began)
    while (now := time.monotonic()) < began + _WINDOW_S:
        for path in [path for path, at in due.items() if now >= at]:
            _asked(plane, path)
            due[path] += page[path]
        wait.wait(0.05)
    return (time.process_time() - cpu) / (time.monotonic() - began)
