"""Watches a worker's journals and output folders from outside: when what appeared there."""

import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import JsonValue

_PERIOD_S = 0.005
_JOIN_S = 10.0


@dataclass
class Seen:
    """One task, as its journal and its folder tell; times are seconds since the epoch."""

    folder_at: float | None = None
    """Its output folder appeared: its first batch began."""
    batches: list[tuple[float, int]] = field(default_factory=list)
    """When a batch became durable in the journal, and the sum of its end offsets."""
    end_at: float | None = None
    """The fixed end was journaled."""


class Watch:
    """Looks every 5 ms, which is also the precision of what it tells."""

    def __init__(self, journal: Path, warehouse: Path) -> None:
        """Watch nothing yet; the folders may not exist yet."""
        self._journal = journal
        self._warehouse = warehouse
        self._read: dict[str, int] = {}
        self._seen: dict[str, Seen] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._stop.set()
        self._thread.join(_JOIN_S)

    def of(self, topic: str) -> dict[str, Seen]:
        """Return task id -> what was seen, of the supervisor of this name."""
        with self._lock:
            return {task: seen for task, seen in self._seen.items() if _is_of(task, topic)}

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD_S):
            with self._lock:
                self._look_at_folders()
                self._look_at_journals()

    def _look_at_folders(self) -> None:
        for folder in self._warehouse.glob("*/data/*"):
            seen = self._seen.setdefault(folder.name, Seen())
            if seen.folder_at is None:
                seen.folder_at = time.time()

    def _look_at_journals(self) -> None:
        for path in self._journal.glob("*.jsonl"):
            done = self._read.get(path.name, 0)
            try:
                status = path.stat()
                if status.st_size == done:
                    continue
                content = path.read_bytes()
            except FileNotFoundError:
                continue
            new = content[done:].rpartition(b"\n")[0]
            self._read[path.name] = done + len(new) + 1 if new else done
            for line in new.splitlines():
                self._take(path.stem, json.loads(line.partition(b" ")[2]), status.st_mtime)

    def _take(self, task_id: str, line: dict[str, JsonValue], at: float) -> None:
        record = line["record"]
        assert isinstance(record, dict)
        seen = self._seen.setdefault(task_id, Seen())
        if record["kind"] == "end":
            seen.end_at = at
        elif record["kind"] == "batch":
            entry = record["entry"]
            assert isinstance(entry, dict)
            ends = entry["end"]
            assert isinstance(ends, dict)
            seen.batches.append((at, sum(int(str(end)) for end in ends.values())))


def _is_of(task_id: str, topic: str) -> bool:
    return task_id.startswith(f"index_kafka_{topic}_")
