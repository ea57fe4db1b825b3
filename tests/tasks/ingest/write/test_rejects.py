"""Rejects are kept as runs: all of them, in few rows."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tasks.contract.offsets import TopicPartition
from tasks.ingest.decode.observed import Reject
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.write.rejects import as_runs, joined, read_rejects, write_rejects

REJECTS = st.dictionaries(
    st.tuples(st.integers(0, 2), st.integers(0, 30)), st.sampled_from(RejectReason)
).map(
    lambda found: [
        Reject(TopicPartition("clicks", p), offset, reason) for (p, offset), reason in found.items()
    ]
)


@given(rejects=REJECTS)
def test_runs_hold_each_reject_and_no_two_can_be_joined(rejects: list[Reject]) -> None:
    runs = as_runs(rejects)

    each = {
        (p, offset, why) for _, p, first, last, why in runs for offset in range(first, last + 1)
    }
    assert each == {(r.partition.partition, r.offset, r.reason.value) for r in rejects}
    assert sum(last - first + 1 for _, _, first, last, _ in runs) == len(rejects)
    ends = {(p, last + 1, why) for _, p, _, last, why in runs}
    assert not ends & {(p, first, why) for _, p, first, _, why in runs}


@given(rejects=REJECTS, cut=st.integers(0, 30))
def test_runs_of_two_batches_join_as_if_they_were_one(rejects: list[Reject], cut: int) -> None:
    early = [reject for reject in rejects if reject.offset < cut]
    late = [reject for reject in rejects if reject.offset >= cut]

    assert joined([*as_runs(late), *as_runs(early)]) == as_runs(rejects)


def test_a_rejects_file_holds_its_runs(tmp_path: Path) -> None:
    runs = [("clicks", 0, 3, 9, "empty"), ("clicks", 1, 2**40, 2**40, "not-json")]

    file = write_rejects(runs, tmp_path / "rejects.parquet", tmp_path)

    assert file is not None
    assert (file.path, file.records) == ("rejects.parquet", 8)
    assert read_rejects(tmp_path / file.path) == runs


def test_no_rejects_are_no_file(tmp_path: Path) -> None:
    assert write_rejects([], tmp_path / "rejects.parquet", tmp_path) is None
    assert not list(tmp_path.iterdir())
