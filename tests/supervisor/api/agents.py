"""Workers without Spark: they do what they are told, and read when a test says so."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event

import httpx

from supervisor.core.tables.compaction import merged
from supervisor.core.values.errors import WorkerUnavailable
from supervisor.ports.workers.task_logs import LogPart
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import (
    CompactedFile,
    Counters,
    DesiredCompaction,
    DesiredTask,
    JournalFile,
    JournalView,
    PublishRequest,
    RejectSample,
    RunState,
    SyncRequest,
    SyncResponse,
    TaskPhase,
    TaskReport,
)
from tasks.contract.offsets import TopicPartition, is_at_end
from tasks.contract.sample import DesiredSample, SampleAnswer
from tests.supervisor.api.client import Client
from tests.supervisor.world import segment_file

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
TOPIC = "clicks"


@dataclass
class _Held:
    """A task as an agent runs it."""

    wanted: DesiredTask
    phase: TaskPhase
    position: dict[TopicPartition, int]
    sequence: int
    rejected: tuple[RejectSample, ...] = ()


@dataclass
class Agent:
    """A worker without Spark: does what it is told, reads when the test says so."""

    client: Client
    id: str
    incarnation: int = 1
    slots: int = 4
    held: dict[str, _Held] = field(default_factory=dict)
    known: str | None = None
    compactions: tuple[DesiredCompaction, ...] = ()
    """What it was last told to compact."""
    samples: tuple[DesiredSample, ...] = ()
    """What it was last told to look at."""
    digest: str | None = None
    """What it makes of each range."""
    writes: Callable[[str, int], object] = lambda _, __: None
    """Writes a file of so many bytes into the warehouse."""
    _sequence: int = 0

    def request(self, *, wait_s: float = 0.0) -> SyncRequest:
        """What it says next."""
        self._sequence += 1
        return SyncRequest(
            worker_id=self.id,
            incarnation=self.incarnation,
            sequence=self._sequence,
            url=f"http://{self.id}.example:8091",
            slots=self.slots,
            tasks=tuple(self._report(task_id) for task_id in sorted(self.held)),
            known=self.known,
            wait=timedelta(seconds=wait_s),
        )

    def post(self, request: SyncRequest) -> httpx.Response:
        """Send one sync as a worker does."""
        return post_json(self.client, f"/internal/v1/workers/{self.id}/sync", request.to_json())

    def sync(self) -> None:
        """Say what it runs, and take up what it is told."""
        response = self.post(self.request())
        assert response.status_code == 200, response.text
        self.obey(SyncResponse.from_json(response.content))

    def obey(self, answer: SyncResponse) -> None:
        """Run what is listed or kept, and nothing else."""
        self.known, self.compactions = answer.revision, answer.compactions
        self.samples = answer.samples
        held = {k: self.held[k] for k in answer.kept if k in self.held}
        ordered = [
            held[k.task_id].wanted.model_copy(update={"order": k.order, "turn": k.turn})
            for k in answer.kept_orders
            if k.task_id in held
        ]
        for wanted in (*answer.tasks, *ordered):
            now = self.held.get(wanted.task_id)
            now = now or _Held(wanted, TaskPhase.READING, dict(wanted.start), 0)
            now.wanted, now.sequence = wanted, wanted.order.sequence
            paused = wanted.order.state is RunState.PAUSE
            now.phase = TaskPhase.PAUSED if paused else TaskPhase.READING
            if (end := wanted.order.end) is not None:
                now.position = {p: max(at, end[p]) for p, at in now.position.items()}
                now.phase = TaskPhase.PUBLISHING
                assert is_at_end(now.position, end)
            held[wanted.task_id] = now
        self.held = held

    def read(self, task_id: str, records: int, *, rejected: int = 0) -> None:
        """Journal some records of each of the task's partitions, the first ones unreadable."""
        task = self.held[task_id]
        task.rejected += tuple(
            RejectSample(
                topic=p.topic, partition=p.partition, offset=at + n, reason="not JSON", input="{"
            )
            for p, at in task.position.items()
            for n in range(rejected)
        )
        task.position = {p: at + records for p, at in task.position.items()}

    def publish(self, task_id: str, *, token: str | None = None) -> httpx.Response:
        """Offer one file with the task's whole range."""
        request = self.publish_request(task_id)
        token = self.held[task_id].wanted.token if token is None else token
        return post_json(
            self.client,
            f"/internal/v1/tasks/{task_id}/publish",
            request.to_json(),
            {"Authorization": f"Bearer {token}"},
        )

    def answer_sample(self, order: DesiredSample, answer: SampleAnswer) -> httpx.Response:
        """Tell what a sample found."""
        return post_json(
            self.client,
            f"/internal/v1/samples/{order.sample_id}",
            answer.to_json(),
            {"Authorization": f"Bearer {order.token}"},
        )

    def publish_compacted(self, order: DesiredCompaction) -> httpx.Response:
        """Offer one file in the place of a compaction's inputs."""
        files = [each.file for each in order.inputs]
        file = files[0].model_copy(
            update={
                "path": f"{order.data_source}/data/{order.compaction_id}/segment-00000.parquet",
                "rows": sum(each.rows for each in files),
                "spans": merged(span for each in files for span in each.spans),
            }
        )
        request = CompactedFile(
            compaction_id=order.compaction_id, incarnation=self.incarnation, file=file
        )
        return post_json(
            self.client,
            f"/internal/v1/compactions/{order.compaction_id}/publish",
            request.to_json(),
            {"Authorization": f"Bearer {order.token}"},
        )

    def publish_request(self, task_id: str) -> PublishRequest:
        """What the task offers."""
        wanted = self.held[task_id].wanted
        end = wanted.order.end or self.held[task_id].position
        file = segment_file(task_id, wanted.start, end)
        self.writes(file.path, file.size_bytes)
        return PublishRequest(
            task_id=task_id,
            incarnation=self.incarnation,
            start=wanted.start,
            end=end,
            topic_ids=wanted.topic_ids,
            segments=(file,),
            columns=(Column(name="user"), Column(name="n", type="long")),
            counters=Counters(processed=1),
            samples=self.held[task_id].rejected,
            digest=self.digest,
        )

    def _report(self, task_id: str) -> TaskReport:
        held = self.held[task_id]
        end = held.wanted.order.end
        report = _report(task_id, held)
        if end is None or held.position != end:
            return report
        update = {"digest": self.digest, "counters": Counters(processed=1)}
        return report if self.digest is None else report.model_copy(update=update)


def _report(task_id: str, held: _Held) -> TaskReport:
    return TaskReport(
        task_id=task_id,
        phase=held.phase,
        order_term=held.wanted.order.term,
        order_sequence=held.sequence,
        position=held.position,
        counters=Counters(
            processed=sum(held.position.values()),
            unparseable=len(held.rejected),
            batches=1,
            rejected={"not-json": len(held.rejected)} if held.rejected else {},
        ),
        samples=held.rejected,
        running_for=timedelta(seconds=30),
        idle_for=timedelta(seconds=1),
    )


@dataclass
class AgentJournals:
    """The control API of agents; a silent one does not answer."""

    agents: dict[str, Agent] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    hanging: dict[str, Event] = field(default_factory=dict)
    """Worker -> what it waits for, with whoever asked, before it answers."""
    held_up: set[str] = field(default_factory=set)
    """Tasks whose journals were asked of workers that hung."""
    logs: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """Task -> token and text of its log."""

    def log(self, worker_url: str, task_id: str, token: str, offset: int) -> LogPart | None:
        """Return what a test has put there."""
        worker = worker_url.removeprefix("http://").partition(".")[0]
        if worker in self.silent:
            raise WorkerUnavailable(f"{task_id}: no answer from {worker_url}")
        if task_id not in self.logs or self.logs[task_id][0] != token:
            return None
        text = self.logs[task_id][1]
        start = max(0, len(text) + offset) if offset < 0 else min(offset, len(text))
        return LogPart(text[start:], start, len(text))

    def journal(self, worker_url: str, task_id: str, token: str, patience_s: float) -> JournalView:
        """Return one journaled file of all that the task has read."""
        worker = worker_url.removeprefix("http://").partition(".")[0]
        if worker in self.silent:
            raise WorkerUnavailable(f"{task_id}: no answer from {worker_url}")
        assert patience_s > 0
        if worker in self.hanging:
            self.held_up.add(task_id)
            assert self.hanging[worker].wait(60), "the test has ended"
        held = self.agents[worker].held[task_id]
        assert token == held.wanted.token
        path = f"{TOPIC}/data/{task_id}/batch-0.parquet"
        rows = sum(at - held.wanted.start[p] for p, at in held.position.items())
        columns = (Column(name="user", type="json"),)
        file = JournalFile(path=path, rows=rows, size_bytes=10, columns=columns)
        files = (file,) if rows else ()
        return JournalView(task_id=task_id, position=held.position, files=files)


def post_json(
    client: Client, path: str, text: str | bytes, headers: dict[str, str] | None = None
) -> httpx.Response:
    """POST a text that is JSON already."""
    all_headers = {"Content-Type": "application/json"} | (headers or {})
    sent: httpx.Response = client.post(path, content=text, headers=all_headers)
    return sent
