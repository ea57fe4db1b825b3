"""TableProofs of tables: ledger and lists that agree, and the verdict of a process of its own."""

from dataclasses import dataclass
from threading import Event

from supervisor.core.values.errors import DataSourceNotFound
from supervisor.core.values.table_names import errors_table
from supervisor.ports.prover import Proof, ProofRequest, Prover
from supervisor.services.supervisors.queries import SupervisorQueries
from supervisor.services.tables.queries import TableQueries

__all__ = ["TableProofs"]

LOOKS = 3
"""Tries with ledger and lists that agree; a lasting difference is a finding."""


@dataclass(frozen=True)
class TableProofs:
    """Proves what supervisors have published; safe from many threads."""

    supervisors: SupervisorQueries
    tables: TableQueries
    prover: Prover

    def prove(self, supervisor_id: str, cancel: Event, *, strict: bool) -> Proof:
        """Return the verdict on a supervisor's part of its table.

        Raises:
            SupervisorNotFound: the id was never used.
            MetadataBusy: its history is being folded.
            ProofStopped, ProofFailed: as `Prover.prove`.
        """
        for left in reversed(range(LOOKS)):
            ledger = self.supervisors.ledger(supervisor_id)
            tables = (ledger.data_source, errors_table(ledger.data_source))
            request = ProofRequest(
                ledger.to_json(),
                [files for table in tables if (files := self._files(table)) is not None],
                ledger.warehouse,
                strict=strict,
                last=left == 0,
            )
            proof = self.prover.prove(request, cancel)
            if proof is not None:
                return proof
        raise AssertionError("the last try has a verdict")

    def _files(self, table: str) -> str | None:
        try:
            return self.tables.files(table, with_journaled=False).to_json()
        except DataSourceNotFound:
            return None
