"""A site for the promises of persisters: topics, a group, and stores behind a door."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from starlette.testclient import TestClient

from supervisor.adapters.kafka.dead_letters import KafkaDeadLetters
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.kept_letter_files import KeptLetterFiles
from supervisor.adapters.reports.letter_marks import SqlLetterMarks
from supervisor.api.persister.server import create_persister_api
from supervisor.core.reports.flow import FlowBounds
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportQuery, ReportStore
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.door import Door
from supervisor.reports.letters import LetterDesk
from supervisor.reports.pipeline import PipelineOptions
from supervisor.reports.service import Persister
from supervisor.reports.storing import Storing
from tasks.reporting.record import ReportRecord
from tests.environment.brokers import produce, read_records
from tests.supervisor.reports.groups import QUICK_PIPE, GroupMember, ReaderGroup
from tests.supervisor.reports.shelves import NOW, Weather

__all__ = ["PromiseSite", "StoreDoor"]


class StoreDoor:
    """A report store behind a door that a test shuts: it knows each batch, and when it came."""

    def __init__(self, store: ReportStore) -> None:
        self.store, self.weather = store, Weather()
        self.batches: list[tuple[float, int]] = []

    def put_many(self, records: Sequence[ReportRecord]) -> Sequence[StoreOutcome]:
        """Store a batch, if the weather lets it."""
        self.weather.meet()
        outcomes = self.store.put_many(records)
        self.batches.append((time.monotonic(), len(records)))
        return outcomes

    def ping(self) -> None:
        self.weather.meet()
        self.store.ping()

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)


@dataclass
class PromiseSite:
    """Topics, a group of persisters and their stores."""

    group: ReaderGroup
    reports: StoreDoor
    logs: LogStore
    dead: str = ""
    pipe: PipelineOptions = QUICK_PIPE
    members: list[GroupMember] = field(default_factory=list)

    def persister(self) -> GroupMember:
        """Prepare one more member; its dead letters go to a topic."""
        client = {"bootstrap.servers": self.group.bootstrap}
        self.dead = self.dead or self.group.topic("dead.persister")
        letters = KafkaDeadLetters(client, self.dead, f"p-{len(self.members)}")
        storing = Storing(self.reports, self.logs, letters)  # type: ignore[arg-type]  # a door
        name = f"p-{len(self.members)}"
        self.members.append(self.group.persister(name, storing=storing, pipe=self.pipe))
        return self.members[-1]

    def send(self, topic: str, *bodies: ReportRecord | bytes, partition: int = 0) -> None:
        """Write records to a topic, as a worker does."""
        texts = [each if isinstance(each, bytes) else each.to_json().encode() for each in bodies]
        produce(self.group.bootstrap, topic, texts, partition=partition)

    def api_of(self, member: GroupMember) -> TestClient:
        """Return the HTTP routes of a member; its dead letters are not looked at."""
        pipeline = member.pipeline
        marks = SqlLetterMarks(ReportDatabase("sqlite:///nothing.db"))
        kept = KeptLetterFiles(Path("nothing"), "p")
        desk = LetterDesk(kept, marks, lambda: NOW, self.group.shelves.storing(), pipeline)
        whole = Persister(pipeline, member.intake, Door(pipeline, FlowBounds()), desk)
        return TestClient(create_persister_api(whole, None, None))

    def rows(self) -> list[ReportRecord]:
        """Return all that is stored as reports."""
        return [*self.reports.store.list(ReportQuery(), 10_000)]

    def subjects(self) -> list[str]:
        return sorted(each.subject for each in self.rows())

    def lag(self, member: GroupMember) -> int | None:
        """Return the lag over all topics; None: it is not known now."""
        try:
            return sum(each.records for each in member.feed.lag().values())
        except StoreAway:
            return None

    def counted(self, outcome: StoreOutcome) -> int:
        return sum(each.pipeline.meters.counts().outcomes.get(outcome, 0) for each in self.members)

    def letters(self) -> list[Mapping[str, bytes | None]]:
        """Return the headers of each dead letter."""
        read = read_records(self.group.bootstrap, self.dead).values()
        return [dict(letter.headers) for letter, _ in read]
