"""Every state has a remedy, and what waits says what for."""

from pathlib import Path

import pytest

import supervisor.core.planning.states
from supervisor.core.attention.changes import CHANGES
from supervisor.core.planning.states import State
from supervisor.views.status import waiting_text


def test_each_state_that_is_not_plainly_good_says_what_would_change_it() -> None:
    """Goal: a new word of `core/planning/states.py` needs its remedy."""
    text = (supervisor.core.planning.states.__doc__ or "") + Path(
        supervisor.core.planning.states.__file__
    ).read_text(encoding="utf-8")
    words = {str(state) for state in State} - {"RUNNING"}
    table = {word for line in text.splitlines() if line.startswith("| ") for word in _upper(line)}
    assert (words | table) - {"RUNNING"} <= CHANGES.keys()


def _upper(line: str) -> set[str]:
    cleaned = line.replace(",", " ").replace("|", " ").split()
    return {word for word in cleaned if word.isupper() and len(word) > 3 and word.isascii()}


@pytest.mark.parametrize(
    ("pending", "needed", "free", "text"),
    [
        (0, 0, 3, ""),
        (2, 1, 0, "2 replicas wait for a slot: 1 needed, 0 free"),
        (1, 0, 10, "1 replica is still to be started"),
    ],
)
def test_a_replica_waits_for_a_slot_only_where_one_is_missing(
    pending: int, needed: int, free: int, text: str
) -> None:
    """Goal: with slots free, nobody is sent to look for more."""
    assert waiting_text(pending, needed, free) == text
