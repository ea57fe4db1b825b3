"""Proofs of tables: ledger and lists that agree, and the verdict of a process of its own."""

from dataclasses import dataclass
from datetime import timedelta
from threading import Event

from supervisor.core.executions.plan import KILL_GRACE
from supervisor.core.values.errors import DataSourceNotFound
from supervisor.ports.prover import Proof, ProofRequest, Prover, first_verdict
from supervisor.services.supervisors.queries import SupervisorQueries
from supervisor.services.tables.queries import TableQueries

__all__ = ["TableProofs"]


@dataclass(frozen=True)
class TableProofs:
    """Proves what supervisors have published; safe from many threads."""

    supervisors: SupervisorQueries
    tables: TableQueries
    prover: Prover

    def prove(
        self, supervisor_id: str, cancel: Event, grace: timedelta = KILL_GRACE, *, strict: bool
    ) -> Proof:
        """Return the verdict on a supervisor's part of its table.

        `grace`: from the cancel to the hard end.

        Raises:
            SupervisorNotFound: the id was never used.
            MetadataBusy: its history is being folded.
            ProofStopped, ProofFailed: as `Prover.prove`.
        """

        def look(last: bool) -> Proof | None:
            ledger = self.supervisors.ledger(supervisor_id)
            lists = [self._files(table) for table in ledger.tables()]
            files = [each for each in lists if each is not None]
            request = ProofRequest(
                ledger.to_json(), files, ledger.warehouse, strict=strict, last=last
            )
            return self.prover.prove(request, cancel, grace)

        return first_verdict(look)

    def _files(self, table: str) -> str | None:
        try:
            return self.tables.files(table, with_journaled=False).to_json()
        except DataSourceNotFound:
            return None
