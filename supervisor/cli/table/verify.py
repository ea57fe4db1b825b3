"""`tidegate verify`: prove exactly-once delivery of the rows, and check the warehouse's files."""

from typing import Annotated

import typer

from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, WarehouseHere, connect
from supervisor.cli.shell.output import print_notice, show_json, show_table, show_text
from supervisor.cli.shell.problems import FAILED
from supervisor.cli.table.proofs import prove
from supervisor.cli.table.verify_files import is_sound, show_inventory, take_stock
from supervisor.verify.claim import is_proven
from supervisor.verify.verdict import Finding, Verification


def verify(
    supervisor_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Id of the supervisor whose rows to prove.",
            show_default="none: give --files then",
        ),
    ] = None,
    *,
    files: Annotated[
        bool, typer.Option("--files", help="Compare the files of the warehouse with the database.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit code 1 also for what is unproven, pending or kept."),
    ] = False,
    no_digest: Annotated[
        bool, typer.Option("--no-digest", help="With --files: compare sizes, not contents.")
    ] = False,
    warehouse: WarehouseHere = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Prove that each record of the topic is exactly once in the table.

    Reads the topic again with a consumer of its own, from the first to the committed offset, and
    every published file. Exit code 0 if nothing is violated, 1 if something is. The proof runs in a
    process of its own, with the bounds of a verify step (TIDEGATE_EXECUTIONS_CHILD_MEMORY, _TIME
    and _FILES); Ctrl-C ends it.

    With --files: prove that the files in the warehouse, those of all tables, are exactly the ones
    that the database names, each with its recorded size and sha256. Missing, damaged and orphan
    files are listed. Files that active tasks write (writing), that wait to be deleted (pending) or
    that are left for people to look at (kept) are counted, and those in the logs of exports.

    \b
    Examples:
      tidegate verify clicks
      tidegate verify --files
    """
    _refuse_misuse(supervisor_id, files=files, no_digest=no_digest)
    answers: dict[str, dict[str, object]] = {}
    good = True
    with connect(server) as client:
        if files:  # first: it needs no Kafka
            inventory = take_stock(client, warehouse, digests=not no_digest)
            good = is_sound(inventory, strict=strict)
            answers["files"] = inventory.to_dict()
            if output is Format.TABLE:
                show_inventory(inventory, strict=strict)
        if supervisor_id is not None:
            verdict = prove(client, supervisor_id, warehouse)
            good = is_proven(verdict, strict=strict) and good
            answers["table"] = verdict.to_dict()
            if output is Format.TABLE:
                _show(verdict)
    if output is Format.JSON:
        show_json(answers if len(answers) > 1 else next(iter(answers.values())))
    if not good:
        raise typer.Exit(FAILED)


def _refuse_misuse(supervisor_id: str | None, *, files: bool, no_digest: bool) -> None:
    if supervisor_id is None and not files:
        raise typer.BadParameter(
            "give a supervisor to prove its rows, --files to check the warehouse, or both",
            param_hint="ID",
        )
    if no_digest and not files:
        raise typer.BadParameter(
            "it goes with --files: the rows of a table are always read", param_hint="--no-digest"
        )


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
        print_notice(f"note: {note}")
    show_text("")
    show_text(verdict.summary())


def _finding_row(finding: Finding) -> tuple[object, ...]:
    offsets = ", ".join(
        str(first) if end == first + 1 else f"{first}-{end - 1}" for first, end in finding.runs
    )
    return (
        finding.kind.value,
        None if finding.partition is None else str(finding.partition),
        finding.records or None,
        offsets,
        finding.generation_id,
        finding.detail,
    )
