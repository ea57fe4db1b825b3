"""Batches that are not read: each of their offsets is a reject, and no record is unpacked."""

from pathlib import Path

from tasks.contract.messages import RejectSample
from tasks.durable_files import make_folder
from tasks.ingest.decode.observed import ObservedRecords, Reject
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.spark.source import BatchRange
from tasks.ingest.write.entries import entry_of
from tasks.ingest.write.files import sync_folders
from tasks.ingest.write.rejects import as_runs, write_rejects
from tasks.ports import BatchJob, JournalEntry
from tasks.rows.discovery import ColumnKinds

_DETAIL = "the process that reads records ended again and again while it read this one"


def skip(
    job: BatchJob, span: BatchRange, kinds: ColumnKinds, folder: Path, warehouse: Path
) -> JournalEntry:
    """Write the rejects file of a skipped batch into a new `folder`, synced; return the entry."""
    reason = RejectReason.TOO_LARGE
    rejects = tuple(
        Reject(partition, offset, reason)
        for partition in sorted(span.start)
        for offset in range(span.start[partition], span.end[partition])
    )
    samples = tuple(
        RejectSample(
            topic=each.partition.topic,
            partition=each.partition.partition,
            offset=each.offset,
            reason=reason.value,
            input="",
            detail=_DETAIL,
        )
        for each in rejects
    )
    make_folder(folder)
    file = write_rejects(as_runs(rejects), folder / "rejects.parquet", warehouse)
    sync_folders(folder, warehouse)
    observed = ObservedRecords(len(rejects), 0, 0, {}, rejects, samples, ())
    return entry_of(job, observed, (), file, kinds=kinds)
