"""What a worker's journals say, as they lie on disk, and a kill at a moment that they choose."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from tests.integration.cluster import Cluster
from tests.waiting import wait_until

Ends = Mapping[str, Mapping[str, int]]
"""Table -> partition -> offset."""


@dataclass(frozen=True)
class Journal:
    """One task's: where it began, and the batches that count."""

    task_id: str
    start: dict[str, int]
    batches: list[dict[str, JsonValue]]

    @property
    def reached(self) -> dict[str, int]:
        """Partition -> the offset that is read next."""
        held = self.batches[-1]["end"] if self.batches else self.start
        assert isinstance(held, dict)
        return {name.rpartition(":")[2]: int(str(offset)) for name, offset in held.items()}


def journal_in(path: Path) -> Journal:
    """Return what a journal holds; a torn last line is not there."""
    lines = path.read_bytes().split(b"\n")[:-1]
    header, *rest = [json.loads(line.partition(b" ")[2])["record"] for line in lines]
    batches = [record["entry"] for record in rest if record["kind"] == "batch"]
    return Journal(header["taskId"], header["start"], batches)


def journal_path(cluster: Cluster, table: str) -> Path:
    """Return where w1 keeps the journal of the one task that reads a table now."""
    [task] = [t["id"] for t in cluster.tasks(table) if t["status"] == "RUNNING"]
    return cluster.folder / "w1" / "journal" / f"{task}.jsonl"


def unfinished(cluster: Cluster, table: str, journal: Journal) -> set[str]:
    """Return the folders of batches that the worker has begun, and has not journaled."""
    named = {f"b{batch['number']}-{batch['incarnation']}" for batch in journal.batches}
    begun = (cluster.warehouse / table / "data" / journal.task_id).glob("b*")
    return {folder.name for folder in begun} - named


def stop_worker(cluster: Cluster) -> None:
    """Let w1 stand still: it journals nothing more, though its JVM may end what it does."""
    cluster.freeze("w1")


@dataclass(frozen=True)
class Struck:
    """What a task had when its worker was killed."""

    journal: Journal
    unread: int
    """Records that the topic had, and the task had not journaled."""
    unfinished: set[str]


def kill_at_work(cluster: Cluster, ends: Ends, within_s: float) -> dict[str, Struck]:
    """Let w1, which stands still, go on into the midst of a batch, and kill -9 it there.

    It stands still again when that is judged: what is returned, per table, is what the kill struck.
    """
    paths = {table: journal_path(cluster, table) for table in ends}
    child = cluster.children["w1"]
    struck: dict[str, Struck] = {}

    def strikes() -> bool:
        child.signal(signal.SIGCONT)
        wait_until(lambda: any(one.unfinished for one in seen().values()), within_s)
        stop_worker(cluster)
        struck.update(seen())
        return any(one.unfinished for one in struck.values())

    def seen() -> dict[str, Struck]:
        return {table: _struck(cluster, table, path, ends[table]) for table, path in paths.items()}

    wait_until(strikes, within_s)
    cluster.kill("w1")
    return struck


def _struck(cluster: Cluster, table: str, path: Path, end: Mapping[str, int]) -> Struck:
    journal = journal_in(path)
    unread = sum(end[p] - offset for p, offset in journal.reached.items())
    return Struck(journal, unread, unfinished(cluster, table, journal))
