"""`tidegate verify`: is each record of the topic exactly once in the table?"""

from pathlib import Path
from typing import Annotated

import typer

from supervisor.cli.client import Client, path_of
from supervisor.cli.options import Output, Server, SupervisorId, connect
from supervisor.cli.output import Format, progress_bar, say, show_json, show_table, show_text
from supervisor.cli.problems import FAILED
from supervisor.cli.segments import files_of
from supervisor.verify.ledger import Ledger
from supervisor.verify.verdict import Finding, Verdict, Verification


def verify(
    supervisor_id: SupervisorId,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse ranges that Kafka can no longer prove.")
    ] = False,
    warehouse: Annotated[
        Path | None,
        typer.Option(
            "--warehouse", help="Where the warehouse is mounted here.", show_default=False
        ),
    ] = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Prove that each record of the topic is exactly once in the table.

    Reads the topic again with a consumer of its own, from the first to the committed offset, and
    every published file. Exit code 0 if nothing is violated, 1 if something is.
    """
    with connect(server) as client:
        ledger = client.get(path_of("/api/v1/supervisors", supervisor_id, "ledger")).read(Ledger)
        listed = _listed(client, ledger)
    verdict = _prove(ledger, warehouse or Path(ledger.warehouse), listed)
    if output is Format.JSON:
        show_json(verdict.to_dict())
    else:
        _show(verdict)
    refused = {Verdict.VIOLATED, Verdict.OFFSETS_ONLY} if strict else {Verdict.VIOLATED}
    if verdict.verdict in refused:
        raise typer.Exit(FAILED)


def _listed(client: Client, ledger: Ledger) -> frozenset[str]:
    """Return what readers of the table are given, as far as the ledger can know of it."""
    known = {publication.generation_id for publication in ledger.publications}
    files = files_of(client, ledger.data_source, fresh=False).files if known else ()
    return frozenset(
        file.path
        for file in files
        if file.supervisor_id == ledger.supervisor_id and file.generation_id in known
    )


def _prove(ledger: Ledger, warehouse: Path, listed: frozenset[str]) -> Verification:
    from supervisor.verify.verifier import Steps  # Kafka and Arrow are loaded only when asked
    from supervisor.verify.verifier import verify as put_to_the_proof

    rows = sum(publication.rows for publication in ledger.publications)
    offsets = sum(max(0, end - first) for first, end in ledger.extent().values())
    with progress_bar() as bar:
        of_rows = bar.add_task("rows in the table", total=rows)
        of_offsets = bar.add_task("offsets of the topic", total=offsets)
        steps = Steps(
            lambda count: bar.advance(of_rows, count),
            lambda count: bar.advance(of_offsets, count),
        )
        return put_to_the_proof(ledger, warehouse, listed, steps)


def _show(verdict: Verification) -> None:
    show_table(
        ("PARTITION", "FROM", "TO", "VERDICT", "RECORDS", "LOST", "DUPLICATED", "REJECTED"),
        (
            (
                str(each.partition),
                each.first_offset,
                each.next_offset,
                each.verdict.value,
                each.records,
                each.lost,
                each.duplicated,
                each.rejected,
            )
            for each in verdict.partitions
        ),
    )
    if verdict.findings:
        show_text("")
        show_table(
            ("FINDING", "PARTITION", "RECORDS", "OFFSETS", "GENERATION", "DETAIL"),
            (_finding_row(found) for found in verdict.findings),
        )
    for note in verdict.notes:
        say(f"note: {note}")
    show_text("")
    show_text(verdict.summary())


def _finding_row(found: Finding) -> tuple[object, ...]:
    offsets = ", ".join(
        str(first) if end == first + 1 else f"{first}-{end - 1}" for first, end in found.runs
    )
    return (
        found.kind.value,
        None if found.partition is None else str(found.partition),
        found.records or None,
        offsets,
        found.generation_id,
        found.detail,
    )
