"""The judge of runs with trouble sees each fault, and none in a good run."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.integration.reports.judge import SeenRun

GOOD = SeenRun(
    in_topic=Counter("abc"),
    in_table=Counter("abc"),
    ended={"t1": "SUCCESS", "t2": "SUCCESS"},
    caught_up=True,
    results={"t1": ["SUCCESS"], "t2": ["SUCCESS"]},
    reports=Counter(["t1", "t2"]),
    whole_logs={"t1", "t2"},
)


def _faults(run: SeenRun) -> list[str]:
    return [*run.faults_of_ingestion(), *run.faults_of_reports()]


def test_a_good_run_has_no_fault_also_if_a_worker_was_killed() -> None:
    assert _faults(GOOD) == []
    assert _faults(replace(GOOD, results={"t1": ["SUCCESS"], "t2": [None]})) == []
    killed = replace(GOOD, ended={**GOOD.ended, "t3": "FAILED"}, killed={"t3"})
    assert _faults(replace(killed, whole_logs={"t1", "t2", "t3"})) == []


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        (replace(GOOD, in_table=Counter("ab")), "1 records are lost"),
        (replace(GOOD, in_table=Counter("abcc")), "1 records are there too often"),
        (replace(GOOD, caught_up=False), "it was behind while the trouble lasted"),
        (replace(GOOD, ended={}), "no task has ended"),
        (
            replace(
                GOOD,
                ended={**GOOD.ended, "t2": "FAILED"},
                results={**GOOD.results, "t2": ["FAILED"]},
            ),
            "t2 has failed",
        ),
        (
            replace(GOOD, results={"t1": ["SUCCESS"]}),
            "t2 ended SUCCESS, and its results say []",
        ),
        (
            replace(GOOD, results={**GOOD.results, "t2": ["SUCCESS", "SUCCESS"]}),
            "t2 ended SUCCESS, and its results say ['SUCCESS', 'SUCCESS']",
        ),
        (
            replace(GOOD, results={**GOOD.results, "t2": ["FAILED"]}),
            "t2 ended SUCCESS, and its results say ['FAILED']",
        ),
        (replace(GOOD, reports=Counter(["t1"])), "t2 has 0 reports"),
        (replace(GOOD, reports=Counter(["t1", "t2", "t2"])), "t2 has 2 reports"),
        (replace(GOOD, whole_logs={"t1"}), "t2 has no whole log"),
    ],
)
def test_each_fault_is_seen_alone(run: SeenRun, fault: str) -> None:
    assert _faults(run) == [fault]
