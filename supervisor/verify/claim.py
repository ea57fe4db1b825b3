"""The claim of a verification: the ledger, and the files that readers of its tables get."""

from collections.abc import Iterable

from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.verdict import Verdict, Verification
from supervisor.views.tables.files import TableFile

__all__ = ["is_proven", "listed_of"]


def listed_of(ledger: CheckedLedger, files: Iterable[TableFile]) -> frozenset[str]:
    """Return the paths of the files of a table's readers that the ledger can know.

    Files of publications that are newer than the ledger are left out.
    """
    known = {publication.generation_id for publication in ledger.publications}
    ledger_paths = ledger.paths()
    return frozenset(
        file.path
        for file in files
        if file.supervisor_id == ledger.supervisor_id
        and (file.generation_id in known or file.path in ledger_paths)
    )


def is_proven(verdict: Verification, *, strict: bool) -> bool:
    """Whether nothing is violated; strictly: and nothing is left unproven."""
    refused = {Verdict.VIOLATED, Verdict.OFFSETS_ONLY} if strict else {Verdict.VIOLATED}
    return verdict.verdict not in refused
