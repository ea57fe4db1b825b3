"""The process of one proof: a request as a file, a verdict as a line, within bounds.

    python -m supervisor.verify.child REQUEST BYTES FILES

BYTES of memory and FILES that are open at once are the most that it may have.
It ends with the process that started it: its standard input is open for as long as that one lives.
"""

import json
import os
import resource
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import TypeAdapter

from supervisor.core.values.errors import SupervisorError, Unavailable
from supervisor.settings.problems import SetupProblem
from supervisor.verify.claim import is_proven
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.proving import verdict_on
from supervisor.verify.verdict import Verification
from supervisor.verify.verifier import VerifyProgress
from supervisor.views.tables.files import TableFiles
from tasks.contract.wire import Wire

__all__ = ["ChildRequest", "ProgressFile", "main", "prove"]

FINDINGS_SHOWN = 10
PROGRESS_EACH_S = 0.2
_NUMBERS = (
    *("verdict", "records", "lost", "duplicated", "rejected", "unproven"),
    *("declared", "dropped", "counted", "quarantined", "publications"),
)


class ChildRequest(Wire):
    """See `ports.prover.ProofRequest`."""

    ledger: str
    files: list[str]
    warehouse: str
    strict: bool
    last: bool
    whole: bool = False


@dataclass
class ProgressFile:
    """Writes now and then how many rows and offsets were read."""

    file: Path
    rows: int = 0
    offsets: int = 0
    _next_at: float = 0.0

    def add_rows(self, count: int) -> None:
        """Take rows of the table."""
        self.rows += count
        self._write()

    def add_offsets(self, count: int) -> None:
        """Take offsets of the topic."""
        self.offsets += count
        self._write()

    def _write(self) -> None:
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + PROGRESS_EACH_S
        # A reader sees the old one or the new one, and never a part.
        fresh = self.file.with_suffix(".fresh")
        fresh.write_text(f"{self.rows} {self.offsets}")
        fresh.replace(self.file)


def prove(request: ChildRequest, steps: VerifyProgress | None = None) -> dict[str, object]:
    """Return the answer: a verdict, that the files have changed, or why there is no verdict."""
    ledger = CheckedLedger.from_json(request.ledger)
    tables = [TableFiles.from_json(each) for each in request.files]
    warehouse, steps = Path(request.warehouse), steps or VerifyProgress()
    try:
        verdict = verdict_on(ledger, tables, warehouse, last=request.last, steps=steps)
    except SupervisorError as error:
        passes = isinstance(error, Unavailable)
        fix = error.fix if isinstance(error, SetupProblem) else ""
        code = type(error).__name__
        return {"code": code, "message": str(error), "passes": passes, "fix": fix}
    if verdict is None:
        return {"moved": True}
    document = verdict.to_dict()
    findings = cast("list[object]", document["findings"])
    numbers = {name: document[name] for name in _NUMBERS}
    whole = TypeAdapter(Verification).dump_python(verdict, mode="json") if request.whole else None
    return {
        "whole": whole,
        "proven": is_proven(verdict, strict=request.strict),
        "summary": verdict.summary(),
        "numbers": {**numbers, "findings": findings[:FINDINGS_SHOWN]},
    }


def main() -> int:
    """Prove, and print the answer."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    place, bytes_max, files_max = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    _bound(resource.RLIMIT_DATA, bytes_max)
    _bound(resource.RLIMIT_NOFILE, files_max)
    try:
        request = ChildRequest.from_json(place.read_bytes())
        progress = ProgressFile(place.with_suffix(".progress"))
        steps = VerifyProgress(progress.add_rows, progress.add_offsets)
        answer = prove(request, steps if request.whole else None)
    except MemoryError:
        return os.EX_OSERR
    sys.stdout.write(json.dumps(answer) + "\n")
    return os.EX_OK


def _bound(kind: int, most: int) -> None:
    """Lower a limit; one that is lower already stays."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(os.EX_SOFTWARE)


if __name__ == "__main__":
    sys.exit(main())
