"""A warehouse with files, and a real overlord whose database names them, or does not."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from supervisor.core.model.rows import Segment, TaskStatus
from supervisor.ports.store import Transaction
from tasks.contract.messages import PublishOutcome, RejectsFile
from tasks.contract.offsets import TopicPartition
from tests.conformance.stories import CLICKS, NOON, attempt, opening, publication, segment
from tests.supervisor.api.world import World
from tests.supervisor.cli.overlord import Reply, Request

TABLE = "table"
"""That the stories' supervisor feeds."""


@dataclass
class Warehouse:
    """Files below `root`, and rows in the overlord's database."""

    root: Path
    world: World
    term: int
    meanwhile: list[Callable[[], object]] = field(default_factory=list)
    """What happens, one each, while the overlord is being asked."""
    _tasks: int = 0

    def answer(self, request: Request) -> Reply:
        """Let the real overlord answer one request."""
        if self.meanwhile:
            self.meanwhile.pop(0)()
        response = self.world.client.get(request.path)
        return Reply(response.json(), response.status_code, response.headers["content-type"])

    def write(self, path: str, content: bytes) -> Path:
        """Put a file there."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        return place

    def start(self, *files: str) -> str:
        """Start a task that has written these files into its folder; return its id."""
        self._tasks += 1
        number = self._tasks
        with self._writes() as tx:
            start = {TopicPartition("topic", number): 0}
            assert tx.generations.open(CLICKS, TABLE, opening(f"g{number}", number, start), NOON)
            assert tx.tasks.start(attempt(f"task-{number}", f"g{number}"))
        for name in files:
            self.write(f"{folder_of(f'task-{number}')}/{name}", f"{name} of {number}".encode())
        return f"task-{number}"

    def publish(self, task_id: str, *names: str, rejects: str | None = None) -> list[Segment]:
        """Publish files of a task as they are; its other files are named by nothing."""
        folder = folder_of(task_id)
        generation = f"g{task_id.removeprefix('task-')}"
        segments = []
        for name in names:
            path = f"{folder}/{name}"
            row = segment(path, NOON, generation, task_id)
            file = row.file.model_copy(update=self._facts(path))
            segments.append(replace(row, file=file))
        listed = None
        if rejects is not None:
            facts = self._facts(f"{folder}/{rejects}")
            listed = RejectsFile.model_validate(
                {"path": f"{folder}/{rejects}", "records": 1} | facts
            )
        with self._writes() as tx:
            tx.segments.add(replace(publication(generation, task_id), rejects=listed), segments)
            tx.tasks.store_outcome(task_id, PublishOutcome.COMMITTED, published=True)
        return segments

    def end(
        self, task_id: str, *, outcome: PublishOutcome | None = None, settled: bool = False
    ) -> None:
        """End a task; `settled`: the event queue has found its folder empty for good."""
        with self._writes() as tx:
            if outcome is not None:
                tx.tasks.store_outcome(task_id, outcome, published=False)
            assert tx.tasks.end(task_id, TaskStatus.FAILED, "a story", NOON)
            if settled:
                tx.tasks.folder_deleted(task_id, NOON)

    def published(self) -> Path:
        """Publish one file of a task that is settled; return where it lies."""
        task_id = self.start("part-0.parquet")
        [published] = self.publish(task_id, "part-0.parquet")
        self.end(task_id, settled=True)
        return self.root / published.file.path

    def change(self, change: Callable[[Transaction], object]) -> None:
        """Change rows."""
        with self._writes() as tx:
            change(tx)

    def _writes(self) -> AbstractContextManager[Transaction]:
        return self.world.store.leading(self.term)

    def _facts(self, path: str) -> dict[str, object]:
        content = (self.root / path).read_bytes()
        return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def folder_of(task_id: str) -> str:
    """The folder of a task of the story's table."""
    return f"{TABLE}/data/{task_id}"
