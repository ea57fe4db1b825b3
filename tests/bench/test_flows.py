"""The figures of flows run from their start to their end, with little work.

Goal: a change of the product that breaks one is seen before a night of benchmarks.
Slow: executors are killed, and their partitions move after ten seconds of silence.
"""

import subprocess
import sys

import pytest

from tests.tidy.sources import ROOT

pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

_WITHIN_S = 900
FIGURES = (
    "flow-steps-kafka",
    "flow-steps-bare",
    "flow-latency-median-kafka",
    "flow-fan-bytes-kafka",
    "flow-takeover",
    "flow-takeover-longest",
    "flow-handover",
    "flow-restore",
    "flow-memory",
    "flow-publish-sqlite",
    "flow-pass-time",
)


def test_each_figure_of_flows_on_kafka_is_measured() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "bench", "--quick", *FIGURES),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_WITHIN_S,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    measured = [line.partition(":")[0] for line in done.stdout.splitlines() if line[:1] != " "]
    assert measured == list(FIGURES)
