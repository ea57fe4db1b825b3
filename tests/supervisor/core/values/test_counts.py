"""Counts in sentences: digits in groups, and the noun that fits."""

from datetime import timedelta

import pytest

from supervisor.core.values.counts import counted, grouped, in_seconds


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (999, "999"), (1_204, "1,204"), (2**63 - 1, f"{2**63 - 1:,}")]
)
def test_digits_are_in_groups_of_three(count: int, text: str) -> None:
    assert grouped(count) == text
    assert grouped(count).replace(",", "") == str(count)


def test_seconds_are_in_groups_and_keep_their_fractions() -> None:
    lengths = (timedelta(seconds=1.5), timedelta(hours=1), timedelta(days=365))
    assert [in_seconds(each) for each in lengths] == ["1.5 s", "3,600 s", "31,536,000 s"]


def test_a_noun_follows_its_count() -> None:
    assert [counted(n, "record") for n in (0, 1, 1_204)] == [
        "0 records",
        "1 record",
        "1,204 records",
    ]
    assert counted(2, "record is", "records are") == "2 records are"
