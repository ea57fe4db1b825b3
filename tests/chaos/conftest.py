"""What tests of the harness itself share."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.chaos.judges.books import Books
from tests.chaos.judges.oracle import Oracle
from tests.chaos.processes.fleet import Fleet, Shape
from tests.chaos.processes.producer import Ledger, Stream
from tests.chaos.processes.still import Still
from tests.chaos.runs.run import Run


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """A run with 201 deaths of the walk behind it, and 1,000 records."""
    stream = SimpleNamespace(ledger=Ledger([("id", 0, n) for n in range(1_000)]))
    with Fleet(Shape(tmp_path, "postgresql://127.0.0.1:9/none")) as fleet:
        still = Still(
            fleet,
            cast("Books", None),
            cast("Stream", stream),
            cast("Oracle", None),
            "nobody:9",
            "none",
            lambda _: None,
        )
        for _ in range(201):
            still.faults.note("A1", "o1")
        yield still
