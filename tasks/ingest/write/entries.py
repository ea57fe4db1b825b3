"""The journal entry of one batch."""

from collections import Counter

from tasks.contract.digests import NO_RECORDS, digest_of
from tasks.contract.messages import Counters, RejectSample, RejectsFile
from tasks.ingest.decode.observed import ObservedRecords
from tasks.ports import BatchJob, DataFile, JournalEntry
from tasks.rows.discovery import ColumnKinds, typed_of


def entry_of(
    job: BatchJob,
    observed: ObservedRecords | None,
    files: tuple[DataFile, ...],
    rejects: RejectsFile | None,
    *,
    kinds: ColumnKinds,
    raw: tuple[DataFile, ...] = (),
) -> JournalEntry:
    """Return the entry of one batch; `observed` is None if there was nothing to read."""
    counters = Counters(batches=1)
    samples: tuple[RejectSample, ...] = ()
    digest = NO_RECORDS
    if observed is not None:
        unwanted = sum(reject.reason.thrown_away for reject in observed.rejects)
        counters = Counters(
            processed=observed.rows - observed.rows_with_error,
            processed_with_error=observed.rows_with_error,
            unparseable=len(observed.rejects) - unwanted,
            thrown_away=unwanted,
            processed_bytes=observed.size_bytes,
            batches=1,
            rejected=Counter(reject.reason.value for reject in observed.rejects),
        )
        digest = digest_of(observed.digest)
        samples = observed.samples[: job.spec.tuning.saved_parse_exceptions_max]
    return JournalEntry(
        number=job.number,
        incarnation=job.incarnation,
        start=dict(job.start),
        end=dict(job.end),
        files=files,
        rejects=rejects,
        quarantine=raw,
        counters=counters,
        samples=samples,
        columns=tuple(kinds),
        kinds=typed_of(job.spec, kinds),
        digest=digest,
    )
