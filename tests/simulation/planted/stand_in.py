"""Faults of what the simulation has a stand-in for: Spark, its files, Kafka's client.

The simulation shows that such a fault would be seen; that the real path has it not is shown by a
test of that path, which fails with the same fault planted there.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from confluent_kafka import IsolationLevel

from tasks.contract.offsets import Offsets
from tasks.kafka import stream
from tasks.machine import reading
from tests.simulation.planted.patches import Function, Mutant, Patches
from tests.simulation.processes import engine
from tests.simulation.world.kafka import DATA, Kafka, Log, Record


def lost_records_skipped(patches: Patches) -> None:
    def make(read: Function) -> object:
        def lenient(self: Kafka, start: Offsets, end: Offsets) -> dict[Any, list[Record]]:
            there = {p: min(max(at, self.log(p).start), end[p]) for p, at in start.items()}
            found: dict[Any, list[Record]] = read(self, there, end)
            return found

        return lenient

    patches.function(reading, "unreadable", lambda _: lambda *_: "")
    patches.method(Kafka, "read", make)


def _unsynced(patches: Patches, *, merged: bool) -> None:
    def make(sync: Function) -> object:
        def late(self: engine.SimEngine, paths: Any) -> None:  # noqa: ANN401
            sync(self, [path for path in paths if ("merged" in path) != merged])

        return late

    patches.method(engine.SimEngine, "sync", make)


def journal_before_fsync(patches: Patches) -> None:
    _unsynced(patches, merged=False)


def publish_before_fsync(patches: Patches) -> None:
    _unsynced(patches, merged=True)


def read_past_the_stable_offset(patches: Patches) -> None:
    def stable(log: Log) -> int:
        return log.end

    patches.method(Log, "stable", lambda _: property(stable))


def aborted_records_published(patches: Patches) -> None:
    def make(read: Function) -> object:
        def all_of_them(self: Kafka, start: Offsets, end: Offsets) -> dict[Any, list[Record]]:
            records: dict[Any, list[Record]] = read(self, start, end)
            kinds = {DATA, "aborted"}
            return {
                p: [r for r in self.log(p).records[start[p] : end[p]] if r[2] in kinds]
                for p in records
            }

        return all_of_them

    patches.method(Kafka, "read", make)


def _read_with(patches: Patches, options: Mapping[str, str]) -> None:
    from tasks.ingest.spark import source  # only here: it needs Spark

    def make(read_options: Function) -> object:
        def other(*args: Any, **named: Any) -> dict[str, str]:  # noqa: ANN401
            return {**read_options(*args, **named), **options}

        return other

    patches.function(source, "read_options", make)


def really_uncommitted(patches: Patches) -> None:
    any_record = IsolationLevel.READ_UNCOMMITTED
    levels = SimpleNamespace(READ_COMMITTED=any_record, READ_UNCOMMITTED=any_record)
    patches.function(stream, "IsolationLevel", lambda _: levels)


def really_aborted(patches: Patches) -> None:
    _read_with(patches, {"kafka.isolation.level": "read_uncommitted"})


def really_skipped(patches: Patches) -> None:
    patches.function(reading, "unreadable", lambda _: lambda *_: "")
    _read_with(patches, {"failOnDataLoss": "false"})


def by_its_program(_: Patches) -> None:
    """Do nothing: the program that the test starts plants what the environment names."""


_FSYNC = (
    "tests/tasks/worker/crashes/test_durability.py"
    "::test_what_is_relied_upon_is_durable_at_that_moment"
)
_INGEST = "tests/tasks/ingest/"

MUTANTS = (
    Mutant(
        "lost-records-skipped",
        "R9, E4",
        "auto.offset.reset=earliest: what Kafka no longer holds is passed over in silence",
        lost_records_skipped,
        stand_in="the read of Kafka",
        real=really_skipped,
        direct=f"{_INGEST}test_batch_ends.py::test_offsets_that_kafka_has_deleted_cannot_be_read",
    ),
    Mutant(
        "journal-before-fsync",
        "P20, P27",
        "a batch is journaled before its file is on disk",
        journal_before_fsync,
        stand_in="the sync of files",
        real=by_its_program,
        direct=_FSYNC,
    ),
    Mutant(
        "publish-before-fsync",
        "P20, P27",
        "merged files are offered before they are on disk",
        publish_before_fsync,
        stand_in="the sync of files",
        real=by_its_program,
        direct=_FSYNC,
    ),
    Mutant(
        "read-past-the-stable-offset",
        "P10, E11",
        "reading goes up to the high watermark, past a transaction that is open",
        read_past_the_stable_offset,
        stand_in="the last stable offset",
        real=really_uncommitted,
        direct="tests/tasks/kafka/test_stream.py::test_records_of_an_open_transaction_are_not_stable",
    ),
    Mutant(
        "aborted-records-published",
        "E10",
        "the records of aborted transactions become rows",
        aborted_records_published,
        stand_in="the read of Kafka",
        real=really_aborted,
        direct=f"{_INGEST}test_batches.py"
        "::test_a_batch_holds_each_committed_record_once_and_no_aborted_one",
    ),
)
