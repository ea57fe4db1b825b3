"""Counts in sentences: digits in groups, and the noun that fits."""

import pytest

from supervisor.core.values.counts import counted, grouped


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (999, "999"), (1_204, "1,204"), (2**63 - 1, f"{2**63 - 1:,}")]
)
def test_digits_are_in_groups_of_three(count: int, text: str) -> None:
    assert grouped(count) == text
    assert grouped(count).replace(",", "") == str(count)


def test_a_noun_follows_its_count() -> None:
    assert [counted(n, "record") for n in (0, 1, 1_204)] == [
        "0 records",
        "1 record",
        "1,204 records",
    ]
    assert counted(2, "record is", "records are") == "2 records are"
