"""The proof of `tidegate verify ID`: ledger and lists by HTTP, the verdict by a child process.

The looks, the process and its bounds are those of a `verify` step.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from pydantic import TypeAdapter

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.output import progress_bar
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.table.segments import files_of
from supervisor.core.values.errors import Unavailable
from supervisor.ports.prover import ProofFailed, ProofRequest, first_verdict
from supervisor.settings.settings import load_settings
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.verdict import Verification

__all__ = ["prove"]

_VERIFICATION = TypeAdapter(Verification)


class ProofUnavailable(Unavailable):
    """Kafka, or something else that a proof needs, does not answer now."""


def prove(client: Client, supervisor_id: str, warehouse: Path | None) -> Verification:
    """Return the verdict on a supervisor's part of its table.  Ctrl-C ends the process too.

    Raises:
        ProofUnavailable: Kafka does not answer.
        CommandFailed: the proof is not possible here, or took more than it may.
    """
    from supervisor.app.executions.calls import prover_of  # loads what few commands need

    settings = load_settings()

    def look(last: bool) -> Verification | None:
        path = path_of("/api/v1/supervisors", supervisor_id, "ledger")
        ledger = client.get(path).read(CheckedLedger, whole=True)
        tables = [files_of(client, table, fresh=False) for table in ledger.tables()]
        place = str(warehouse or ledger.warehouse)
        files = [table.to_json() for table in tables]
        request = ProofRequest(ledger.to_json(), files, place, strict=False, last=last, whole=True)
        with _progress(ledger) as moved:
            proof = prover_of(settings, moved).prove(request, Event())
        return None if proof is None else _VERIFICATION.validate_python(proof.whole)

    try:
        return first_verdict(look)
    except ProofFailed as failed:
        raise _problem(failed) from None


def _problem(failed: ProofFailed) -> Exception:
    """Return the error of this command: its exit code is 3 where another time may be better."""
    if failed.passes and failed.code != "proof-ended":
        return ProofUnavailable(str(failed))
    return CommandFailed(str(failed), failed.fix)


@contextmanager
def _progress(ledger: CheckedLedger) -> Iterator[Callable[[int, int], None]]:
    """Show a bar for the rows and one for the offsets; yield what moves them."""
    rows = sum(publication.rows for publication in ledger.publications)
    offsets = sum(max(0, end - first) for first, end in ledger.extent().values())
    with progress_bar() as bar:
        of_rows = bar.add_task("rows in the table", total=rows)
        of_offsets = bar.add_task("offsets of the topic", total=offsets)

        def moved(rows_read: int, offsets_read: int) -> None:
            bar.update(of_rows, completed=rows_read)
            bar.update(of_offsets, completed=offsets_read)

        yield moved
