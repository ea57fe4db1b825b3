"""Looks and the verdict on a claim: one place for steps and for `tidegate verify`."""

from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.ports.prover import first_verdict
from supervisor.verify.ledger import CheckedGap, CheckedLedger
from supervisor.verify.proving import verdict_on
from supervisor.verify.verdict import FindingKind
from supervisor.verify.verifier import VerifyProgress
from supervisor.views.tables.files import TableFile, TableFiles
from tests.conformance.stories import CLICKS, NOON
from tests.supervisor.verify.compacting import Table

STEPS = VerifyProgress()


@pytest.mark.parametrize("agrees_at", [0, 1, 2])
def test_looks_end_with_the_first_verdict(agrees_at: int) -> None:
    lasts: list[bool] = []

    def look(last: bool) -> str | None:
        lasts.append(last)
        return "a verdict" if len(lasts) > agrees_at else None

    assert first_verdict(look) == "a verdict"
    assert lasts == [False, False, True][: agrees_at + 1]


def _claim(table: Table) -> tuple[CheckedLedger, TableFiles]:
    """A ledger whose topic was made anew, so that no broker is needed, and the list that fits."""
    gap = CheckedGap.model_validate(
        {
            "topic": CLICKS,
            "partition": 0,
            "from": 0,
            "to": 3,
            "kind": "recreated",
            "author": "me",
            "why": "",
            "at": NOON + timedelta(days=1),
            "lastOrdinal": None,
        }
    )
    files = [
        TableFile(
            path=each.file.path,
            uri="",
            published=True,
            rows=each.file.rows,
            size_bytes=1,
            sha256=each.file.sha256,
            interval_start=None,
            interval_end=None,
            supervisor_id=CLICKS,
            generation_id=each.generation_id,
            task_id=each.task_id,
            compaction_id=None,
            column_set=None,
        )
        for each in table.segments()
    ]
    ledger = table.ledger().model_copy(update={"committed": (), "gaps": (gap,)})
    return ledger, _listed(files)


def _listed(files: list[TableFile]) -> TableFiles:
    return TableFiles(
        data_source=CLICKS, warehouse="", columns=[], column_sets=[], files=files, missing=[]
    )


def test_a_list_that_does_not_fit_has_no_verdict_but_at_the_last_look(tmp_path: Path) -> None:
    """Goal: a swap between ledger and list is no finding, and one that lasts is."""
    table = Table(tmp_path)
    table.publish({0: [(0, 0), (0, 0), (0, 0)]})
    ledger, fits = _claim(table)
    assert verdict_on(ledger, [fits], tmp_path, last=False, steps=STEPS) is not None

    empty = _listed([])
    assert verdict_on(ledger, [empty], tmp_path, last=False, steps=STEPS) is None
    verdict = verdict_on(ledger, [empty], tmp_path, last=True, steps=STEPS)
    assert verdict is not None
    assert {each.kind for each in verdict.findings} == {FindingKind.MISSING_FILE}
