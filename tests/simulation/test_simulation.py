"""The simulation can be repeated, and hits what it is to hit (P26)."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.simulation import __main__ as command
from tests.simulation.command import simulate
from tests.simulation.faults.tables import ROWS, WANTED_ROWS, of_overlord, of_worker
from tests.simulation.run import Outcome, run_seed

TRACED = (3, 13)


@pytest.mark.process
@pytest.mark.parametrize("seed", TRACED)
def test_the_same_seed_does_the_same(seed: int) -> None:
    """In another process, where sets and dictionaries of texts have another order, as well."""
    here = run_seed(seed)
    assert run_seed(seed).trace_hash == here.trace_hash
    for hashed in ("1", "2"):
        *_, last = simulate("--trace", str(seed), hashed=hashed).stdout.splitlines()
        assert last == f"trace {here.trace_hash}"


def test_another_seed_does_something_else() -> None:
    assert len({run_seed(seed).trace_hash for seed in TRACED}) == len(TRACED)


def test_every_row_of_the_failure_tables_can_be_hit() -> None:
    """Source: faults, tables A and B; the command prints how often each was."""
    crashes = {
        "A1": of_overlord("before:BeginHandoff", "READING"),
        "A2": of_overlord("sync:told-pause", "PAUSING"),
        "A3": of_overlord("store.leading:before FixEnd", "PAUSING"),
        "A4": of_overlord("after:FixEnd", "PUBLISHING+READING"),
        "A5": of_overlord("sync:told-end", "PUBLISHING+READING"),
        "A6": of_overlord("sync:answer", "PUBLISHING+READING"),
        "A7": of_overlord("in:FixEnd", "PAUSING"),
        "A8": of_overlord("store.leading:before StartTask", "READING"),
        "A9": of_overlord("after:StartTask", "READING"),
        "A10": of_overlord("publish:in-transaction", "PUBLISHING"),
        "A11": of_overlord("store.leading:after publish", "READING"),
        "A12": of_overlord("publish:answer", "READING"),
        "A13": of_overlord("apply:in-transaction", "READING"),
        "A15": of_overlord("terminate:committed", "READING"),
        "B1": of_worker("worker:before:Look", ["STARTING"]),
        "B2": of_worker("", ["READING"]),
        "B3": of_worker("", ["PAUSED"]),
        "B4": of_worker("", ["FINISHING"]),
        "B5": of_worker("worker:unsynced:ReadBatch", ["READING"]),
        "B6": of_worker("worker:before:Publish", ["PUBLISHING"]),
        "B7": of_worker("worker:after:Publish", ["PUBLISHING"]),
    }
    assert [row for row, hit in crashes.items() if row not in hit] == []
    # Of many crashes, of all workers at once, and without a crash.
    assert set(ROWS) - crashes.keys() == {"A14", "B8", "B9", "B11"}


def test_ten_leaders_in_a_row_that_die_while_they_recover_are_a_row() -> None:
    """Goal: the storm lasts until the tenth has died, and what they left comes to its end."""
    outcome = run_seed(100076)
    assert (outcome.rows["A14"], outcome.violations) == (1, ())


@pytest.mark.parametrize(
    ("seeds", "hits", "answer", "named"),
    [(5_000, 10, 0, ""), (5_000, 9, 1, "A12, B7"), (4_999, 0, 0, "")],
)
def test_a_long_run_fails_if_it_hits_a_row_too_seldom(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    seeds: int,
    hits: int,
    answer: int,
    named: str,
) -> None:
    """Source: faults, the bar of 6.1: every row of the tables A and B at least 10 times."""
    rows = Counter({**dict.fromkeys(WANTED_ROWS, 10), "A12": hits, "B7": hits})

    def all_at_once(*_: object) -> Iterator[Outcome]:
        yield Outcome(0, (), 20, 1, 3, 3, Counter(), "", rows=rows)

    monkeypatch.setattr(command, "outcomes", all_at_once)
    assert command.main(["--seeds", str(seeds)]) == answer
    output_lines = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("rows hit")
    ]
    assert output_lines == ([f"rows hit fewer than 10 times: {named}"] if named else [])
