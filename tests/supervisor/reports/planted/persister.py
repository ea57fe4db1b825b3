"""Faults of the persister: what it commits, what it calls done, what it holds."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from supervisor.core.reports import flow
from supervisor.core.reports.status import StoreOutcome
from supervisor.core.reports.tracker import Tracker
from supervisor.ports.reports.feed import FeedPartition
from supervisor.ports.store_problems import ContentRefused, StoreAway
from supervisor.reports import storing
from supervisor.reports.incoming import Incoming
from supervisor.reports.intake import Intake
from supervisor.reports.pipeline import Pipeline
from supervisor.reports.storing import Storing
from tests.simulation.planted.patches import Function, Mutant, Patches

_TURNS = "tests/supervisor/reports/test_turns.py"
_PIPELINE = "tests/supervisor/reports/test_pipeline.py"


def commit_past_unfinished(patches: Patches) -> None:
    patches.method(
        Tracker, "lowest_unfinished", lambda _: property(lambda tracker: tracker.next_offset)
    )


def offset_by_message(patches: Patches) -> None:
    def finish(tracker: Tracker, offset: int) -> None:
        while tracker._begun and tracker._begun[0] <= offset:
            tracker._unfinished.discard(tracker._begun.popleft())

    patches.method(Tracker, "finish", lambda _: finish)


def commit_taken_for_certain(patches: Patches) -> None:
    def make(_: Function) -> object:
        def commit(intake: Intake, places: Collection[FeedPartition]) -> None:
            trackers = {place: intake._places[place].tracker for place in places}
            due = {p: t.due() for p, t in trackers.items() if t is not None}
            wanted = {place: offset for place, offset in due.items() if offset is not None}
            if wanted:
                intake._feed.commit(wanted)
            for place, tracker in trackers.items():
                if tracker is not None:
                    tracker.committed = wanted.get(place, tracker.committed)

        return commit

    patches.method(Intake, "_commit", make)


def revoke_without_drain(patches: Patches) -> None:
    def revoked(intake: Intake, places: Collection[FeedPartition]) -> None:
        intake._commit([place for place in places if place in intake._places])
        intake._lost_to(places)

    patches.method(Intake, "_revoked", lambda _: revoked)


def lost_is_committed(patches: Patches) -> None:
    def make(lost_to: Function) -> object:
        def lost(intake: Intake, places: Collection[FeedPartition]) -> None:
            for place in places:
                if (held := intake._places.get(place)) is not None and held.tracker is not None:
                    intake._feed.commit({place: held.tracker.next_offset})
            lost_to(intake, places)

        return lost

    patches.method(Intake, "_lost_to", make)


def drain_does_not_wait(patches: Patches) -> None:
    def make(discard: Function) -> object:
        def hasty(pipeline: Pipeline, places: Collection[FeedPartition], within_s: float) -> None:
            del within_s
            discard(pipeline, places, 0.0)

        return hasty

    patches.method(Pipeline, "discard", make)


def buffer_without_bound(patches: Patches) -> None:
    def never(
        under_way: Mapping[FeedPartition, flow.InFlight],
        paused: frozenset[FeedPartition],
        bounds: flow.FlowBounds,
    ) -> frozenset[FeedPartition]:
        del under_way, paused, bounds
        return frozenset()

    patches.function(flow, "to_pause", lambda _: never)


def letter_without_acknowledgement(patches: Patches) -> None:
    def make(bury: Function) -> object:
        def hopeful(itself: Storing, bad: Mapping[Incoming, str]) -> None:
            with suppress(StoreAway):
                bury(itself, bad)

        return hopeful

    patches.method(Storing, "_bury", make)


def one_bad_record_takes_its_neighbours(patches: Patches) -> None:
    def make(put: Function) -> object:
        def whole(
            pairs: Sequence[tuple[Incoming, object]],
            put_many: Function,
            outcomes: storing._Outcomes,
        ) -> None:
            def all_or_none(parts: Sequence[object]) -> object:
                try:
                    return put_many(parts)
                except ContentRefused as error:
                    outcomes.bad.update((item, str(error)) for item, _ in pairs)
                    return [StoreOutcome.CONFLICT] * len(parts)

            put(pairs, all_or_none, outcomes)

        return whole

    patches.function(storing, "_put", make)


def failed_batch_is_forgotten(patches: Patches) -> None:
    def make(tried: Function) -> object:
        def forgetful(pipeline: Pipeline, batch: Sequence[Incoming]) -> object:
            _, outcome, reason = tried(pipeline, batch)
            return {}, outcome, reason

        return forgetful

    patches.method(Pipeline, "_try", make)


MUTANTS = (
    Mutant(
        "commit-past-unfinished",
        "II.5, P2",
        "the next offset to be read is committed, though records below it are under way",
        commit_past_unfinished,
        direct=f"{_TURNS}::test_a_commit_waits_for_the_lowest_record_that_is_not_done",
    ),
    Mutant(
        "offset-by-message",
        "II.11.4",
        "a record that is done counts for all before it, as `commit(message=m)` does",
        offset_by_message,
        direct="tests/supervisor/core/reports/test_tracker.py"
        "::test_a_commit_passes_no_unfinished_record",
    ),
    Mutant(
        "commit-taken-for-certain",
        "II.11.3",
        "a commit that a rebalance refused is not made again",
        commit_taken_for_certain,
        direct=f"{_TURNS}::test_a_commit_that_is_not_certain_is_made_again",
    ),
    Mutant(
        "revoke-without-drain",
        "II.5",
        "a partition that goes is committed without a wait for what is being stored of it",
        revoke_without_drain,
        direct=f"{_TURNS}::test_a_partition_that_goes_is_committed_with_what_was_under_way",
    ),
    Mutant(
        "lost-is-committed",
        "II.5",
        "a partition that another member reads already is committed once more",
        lost_is_committed,
        direct=f"{_TURNS}::test_a_partition_that_was_lost_is_not_committed",
    ),
    Mutant(
        "drain-does-not-wait",
        "II.5",
        "what a writer has in hand of a partition that goes is not waited for",
        drain_does_not_wait,
        direct=f"{_PIPELINE}"
        "::test_what_waits_of_a_partition_that_goes_is_forgotten_and_the_rest_is_stored",
    ),
    Mutant(
        "buffer-without-bound",
        "II.6",
        "no partition pauses, however much is under way",
        buffer_without_bound,
        direct=f"{_TURNS}::test_at_its_bound_it_takes_nothing_more_until_half_is_done",
    ),
    Mutant(
        "letter-without-acknowledgement",
        "II.5, P4",
        "a bad record is done though no broker has its dead letter",
        letter_without_acknowledgement,
        direct=f"{_PIPELINE}::test_a_bad_record_is_not_done_before_its_dead_letter_is_kept",
    ),
    Mutant(
        "one-bad-record-takes-its-neighbours",
        "II.6, P9",
        "a batch that is refused for its content is refused whole",
        one_bad_record_takes_its_neighbours,
        direct=f"{_PIPELINE}::test_bad_records_become_dead_letters_and_their_neighbours_are_stored",
    ),
    Mutant(
        "failed-batch-is-forgotten",
        "II.5.1, P7",
        "what a store that was away has not taken is not tried again",
        failed_batch_is_forgotten,
        direct=f"{_PIPELINE}::test_a_store_that_comes_back_gets_everything_once",
    ),
)
