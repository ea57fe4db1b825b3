"""Every state has a remedy."""

from pathlib import Path

import supervisor.core.planning.states
from supervisor.core.planning.states import State
from supervisor.views.explain import _REMEDIES


def test_each_state_that_is_not_plainly_good_says_what_would_change_it() -> None:
    """Goal: a new word of `core/planning/states.py` needs its remedy."""
    text = (supervisor.core.planning.states.__doc__ or "") + Path(
        supervisor.core.planning.states.__file__
    ).read_text(encoding="utf-8")
    words = {str(state) for state in State} - {"RUNNING"}
    table = {word for line in text.splitlines() if line.startswith("| ") for word in _upper(line)}
    assert (words | table) - {"RUNNING"} <= _REMEDIES.keys()


def _upper(line: str) -> set[str]:
    cleaned = line.replace(",", " ").replace("|", " ").split()
    return {word for word in cleaned if word.isupper() and len(word) > 3 and word.isascii()}
