"""What two replicas say of one range: alike, different, or nothing that can be compared."""

from dataclasses import replace

import pytest

from supervisor.core.model.replica_digests import (
    Comparison,
    Divergence,
    ReplicaDigest,
    compare,
    diverged,
    read_by,
    read_stored,
    records_of,
    stored,
    why_of,
)
from tasks.contract.digests import digest_of
from tasks.contract.messages import Counters, TaskPhase, TaskReport
from tests.supervisor.core.snapshots import offsets

PUBLISHED = ReplicaDigest("winner", offsets(5, 5), 10, digest_of(1))
OTHER = replace(PUBLISHED, task_id="other")


@pytest.mark.parametrize(
    ("other", "comparison"),
    [
        (OTHER, Comparison.SAME),
        (replace(OTHER, digest=digest_of(2)), Comparison.OTHER_ROWS),
        (replace(OTHER, digest=digest_of(2), records=9), Comparison.OTHER_RECORDS),
        (replace(OTHER, digest=None), Comparison.UNKNOWN),
        (replace(OTHER, digest=digest_of(2, version=7)), Comparison.UNKNOWN),
        (replace(OTHER, digest=digest_of(2), end=offsets(5, 4)), Comparison.UNKNOWN),
    ],
)
def test_only_two_known_digests_of_one_range_differ(
    other: ReplicaDigest, comparison: Comparison
) -> None:
    """Goal: nobody is alarmed but by what two replicas have said of the same offsets."""
    assert compare(PUBLISHED, other) is comparison
    assert compare(replace(PUBLISHED, digest=None), other) is Comparison.UNKNOWN

    divergence = diverged(PUBLISHED, other)
    assert (divergence is not None) == comparison.differs
    if divergence is not None and other.digest is not None:
        assert divergence == Divergence("other", other.digest, other.records, comparison)
        assert read_stored(stored(divergence)) == divergence
        assert {"winner", "other"} <= set(why_of(PUBLISHED, divergence).replace(",", "").split())


def test_a_replica_is_read_by_what_it_reports() -> None:
    counters = Counters(processed=3, processed_with_error=2, unparseable=1, thrown_away=4)
    report = TaskReport(
        task_id="other",
        phase=TaskPhase.FINISHING,
        order_term=1,
        order_sequence=1,
        position=offsets(5, 5),
        counters=counters,
        digest=digest_of(1),
    )

    assert records_of(counters) == 10
    assert read_by(report) == OTHER


def test_a_report_without_a_digest_does_not_name_it() -> None:
    """Goal: an overlord from before there were digests reads the report."""
    report = TaskReport(
        task_id="t", phase=TaskPhase.READING, order_term=1, order_sequence=1, position={}
    )

    assert "digest" not in report.to_json()
    assert TaskReport.from_json(report.to_json()) == report
