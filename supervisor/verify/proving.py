"""The verdict on a claim, for a step of a flow and for `tidegate verify` alike."""

from collections.abc import Sequence
from pathlib import Path

from supervisor.verify.claim import listed_of
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.verdict import Verification
from supervisor.verify.verifier import VerifyProgress, verify
from supervisor.views.tables.files import TableFiles

__all__ = ["verdict_on"]


def verdict_on(
    ledger: CheckedLedger,
    tables: Sequence[TableFiles],
    warehouse: Path,
    *,
    last: bool,
    steps: VerifyProgress,
) -> Verification | None:
    """Return the verdict; None: the tables have changed between ledger and lists.

    `tables`: the files of each of `ledger.tables()`, as readers get them.  `last`: there is no
    further look, so that a list that does not fit is a finding.

    Raises:
        StreamUnavailable: Kafka does not answer.
        SetupProblem: the warehouse or a secret is not available here.
    """
    listed = listed_of(ledger, (file for table in tables for file in table.files))
    if listed != ledger.paths().keys() and not last:
        return None
    return verify(ledger, warehouse, listed, steps)
