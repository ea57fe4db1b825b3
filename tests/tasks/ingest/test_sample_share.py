"""How many of Spark's threads samples may have."""

import pytest

from tasks.ingest.sample import SampleShare, share_of


@pytest.mark.parametrize(
    ("cores", "share"),
    [
        (1, SampleShare(1, 1)),
        (2, SampleShare(1, 1)),
        (3, SampleShare(2, 1)),
        (4, SampleShare(2, 1)),
        (8, SampleShare(2, 3)),
    ],
)
def test_a_share_grows_with_the_cores(cores: int, share: SampleShare) -> None:
    assert share_of(cores) == share


def test_samples_that_never_end_leave_tables_a_core() -> None:
    for cores in range(2, 200):
        share = share_of(cores)
        assert share.at_once * share.threads < cores
