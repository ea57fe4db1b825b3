"""Replicas that come to different rows (B11): one publish, and somebody is told."""

from dataclasses import replace

import pytest

from supervisor.control.end_task import TaskEnder
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.replica_digests import Comparison, Divergence
from supervisor.core.model.rows import AuditEntry, Publication
from tasks.contract.digests import digest_of
from tasks.contract.messages import Counters, PublishAnswer, PublishOutcome, TaskReport
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.scenarios.publishers import committed, fixed_end
from tests.supervisor.world import ENDINGS, Hand, Replica, World, publish_request

GOOD, BAD = digest_of(1), digest_of(2)
READ = Counters(processed=10)


class Comparing:
    """A world whose workers tell what they made of a range."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.reports: dict[str, TaskReport] = {}
        self.publishing = replace(
            world.publishing,
            endings=TaskEnder(ENDINGS.config, lambda _, task: self.reports.get(task)),
        )

    def says(self, replica: Replica, digest: str | None, counters: Counters = READ) -> None:
        """Let the overlord hear that a replica has read to the end."""
        assert replica.wanted.order.end is not None
        reported = {"digest": digest, "counters": counters, "position": replica.wanted.order.end}
        self.reports[replica.wanted.task_id] = replica.report().model_copy(update=reported)

    def publish(
        self, hand: Hand, replica: Replica, digest: str | None, counters: Counters = READ
    ) -> PublishAnswer:
        reported = {"digest": digest, "counters": counters}
        request = publish_request(replica.wanted, hand.incarnation).model_copy(update=reported)
        return self.publishing.publish(request.task_id, replica.wanted.token, request)

    def found(self) -> tuple[Publication, list[LifecycleEvent], list[AuditEntry]]:
        """The one publication, the events about differences, the alerts."""
        with self.world.store.reading() as tx:
            [publication] = tx.segments.publications(TOPIC)
            events = [one.happening for one in tx.happenings.before(None, 99)]
            alerts = [entry for entry in tx.audit.recent(99) if entry.action == "alert"]
        return publication, [h for h in events if h.kind is EventKind.REPLICAS_DIVERGED], alerts

    def counted(self) -> dict[str, float]:
        """Finding -> replicas, as scrapers see it; those that are zero are left out."""
        samples = [
            sample
            for family in self.publishing.meters.collect()
            for sample in family.samples
            if sample.name == "tidegate_replicas_compared_total"
        ]
        assert all(s.labels["supervisor"] == TOPIC == s.labels["table"] for s in samples)
        return {s.labels["found"]: s.value for s in samples if s.value}


@pytest.fixture
def comparing(world: World) -> Comparing:
    return Comparing(world)


def test_a_replica_that_made_other_rows_raises_an_alert_and_the_winner_stays(
    comparing: Comparing,
) -> None:
    """Source: B11, Druid PR #3029."""
    (hand, winner), (other, sibling) = comparing.world.ready_to_publish()
    comparing.says(sibling, BAD)

    assert comparing.publish(hand, winner, GOOD).outcome is PublishOutcome.COMMITTED
    assert comparing.publish(other, sibling, BAD).outcome is PublishOutcome.ALREADY_PUBLISHED

    assert committed(comparing.world) == {fixed_end(winner)}
    publication, [event], [alert] = comparing.found()
    won, lost = winner.wanted.task_id, sibling.wanted.task_id
    assert (publication.task_id, publication.digest) == (won, GOOD)
    assert publication.diverged == (Divergence(lost, BAD, 10, Comparison.OTHER_ROWS),)
    assert event.generation_id == winner.wanted.generation_id
    assert (event.detail["publishedBy"], event.detail["digest"]) == (won, GOOD)
    assert (event.detail["other"], event.detail["otherDigest"]) == (lost, BAD)
    assert (alert.subject, alert.detail["supervisor"]) == (lost, TOPIC)
    assert alert.detail["why"] == event.detail["why"]
    assert comparing.counted() == {"other-rows": 1}


def test_replicas_that_agree_alarm_nobody(comparing: Comparing) -> None:
    (hand, winner), (other, sibling) = comparing.world.ready_to_publish()
    comparing.says(sibling, GOOD)

    comparing.publish(hand, winner, GOOD)
    comparing.publish(other, sibling, GOOD)

    publication, events, alerts = comparing.found()
    assert (publication.digest, publication.diverged, events, alerts) == (GOOD, (), [], [])
    assert comparing.counted() == {"same": 1}


def test_a_replica_that_comes_late_is_compared_as_well(comparing: Comparing) -> None:
    (hand, winner), (other, sibling) = comparing.world.ready_to_publish()
    comparing.publish(hand, winner, GOOD)

    for _ in range(2):
        answer = comparing.publish(other, sibling, BAD)
        assert answer.outcome is PublishOutcome.ALREADY_PUBLISHED

    publication, events, alerts = comparing.found()
    assert [one.task_id for one in publication.diverged] == [sibling.wanted.task_id]
    assert (len(events), len(alerts)) == (1, 1)
    assert comparing.counted() == {"unknown": 1, "other-rows": 1}


def test_what_is_not_known_is_no_difference(comparing: Comparing) -> None:
    """Goal: old workers, and those that still read, alarm nobody."""
    (hand, winner), (other, sibling) = comparing.world.ready_to_publish()
    comparing.reports[sibling.wanted.task_id] = sibling.report().model_copy(
        update={"digest": BAD, "position": sibling.wanted.start}
    )

    comparing.publish(hand, winner, GOOD)
    comparing.publish(other, sibling, None)

    publication, events, alerts = comparing.found()
    assert (publication.diverged, events, alerts) == ((), [], [])
    assert comparing.counted() == {"unknown": 1}


def test_replicas_that_were_given_other_records_are_told_of_without_an_alert(
    comparing: Comparing,
) -> None:
    """Goal: a compacted topic, which loses records between two reads, is no bug of ours."""
    (hand, winner), (_, sibling) = comparing.world.ready_to_publish()
    comparing.says(sibling, BAD, Counters(processed=8, thrown_away=1))

    comparing.publish(hand, winner, GOOD)

    publication, [event], alerts = comparing.found()
    [one] = publication.diverged
    assert (one.comparison, one.records) == (Comparison.OTHER_RECORDS, 9)
    assert (event.detail["records"], event.detail["otherRecords"]) == (10, 9)
    assert alerts == []
    assert comparing.counted() == {"other-records": 1}
