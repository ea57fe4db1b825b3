"""`tidegate supervisor sample`: some records of a topic as the rows that they would become."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.text import Text

from supervisor.cli.shell.client import SUPERVISORS, Client, path_of
from supervisor.cli.shell.completion import complete_ids
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import print_notice, printable, show_json, show_table
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.supervisor.spec_files import read_one
from supervisor.core.values.errors import InvalidSpec
from supervisor.core.values.json_bodies import parse_document
from supervisor.views.sample import SampleRow, SampleView

SAMPLER = "/druid/indexer/v1/sampler"
_SHOWN_MAX = 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

WhichId = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        help="Id of a supervisor that is there.",
        show_default="none: give -f then",
        autocompletion=complete_ids,
    ),
]
WhichFile = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        show_default="none: give ID then",
        help="A spec, JSON or YAML, which need not be whole; - reads stdin.",
    ),
]
Rows = Annotated[
    int,
    typer.Option(
        "--limit", "-n", metavar="N", min=1, max=5_000, help="Read so many records at most."
    ),
]
Within = Annotated[
    float,
    typer.Option(
        "--within", metavar="SECONDS", min=1.0, max=24.0, help="Read for so long at most."
    ),
]


def sample(
    supervisor_id: WhichId = None,
    file: WhichFile = None,
    *,
    rows: Rows = 20,
    within: Within = 20.0,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show records of a topic as the rows that they become, and why others become none.

    Give a supervisor's id, or a spec by -f: nothing is stored, and nothing is written. A spec
    without an inputFormat shows the records as they are.

    Example: tidegate supervisor sample clicks --limit 5
    """
    if (supervisor_id is None) == (file is None):
        raise typer.BadParameter("give either the id of a supervisor or -f FILE")
    with connect(server) as client:
        spec = _spec_of(client, supervisor_id, file)
        config = {"numRows": rows, "timeoutMs": int(within * 1000)}
        wanted = {"type": "kafka", "spec": spec, "samplerConfig": config}
        answer = client.post(SAMPLER, json.dumps(wanted).encode())
    if output is Format.JSON:
        show_json(answer.json())
    else:
        _show(answer.read(SampleView))


def _spec_of(client: Client, supervisor_id: str | None, file: str | None) -> object:
    if supervisor_id is not None:
        return client.get(path_of(SUPERVISORS, supervisor_id)).json()
    try:
        return parse_document(read_one(file or "-"))
    except InvalidSpec as error:
        raise CommandFailed(f"{file}: {error}") from error


def _show(sample: SampleView) -> None:
    if not sample.data:
        print_notice("There are no records.")
        return
    names = [column.name for column in sample.logical_segment_schema]
    raw = not names
    table = [(f"{row.partition}:{row.offset}", *_cells(row, names, raw=raw)) for row in sample.data]
    show_table(("RECORD", *(["INPUT"] if raw else [*names, "WHY NOT"])), table)
    if not raw:
        bad = sum(row.unparseable for row in sample.data)
        left = sample.num_rows_read - sample.num_rows_indexed - bad
        print_notice(
            f"{sample.num_rows_read} records: {sample.num_rows_indexed} rows, {bad} that cannot be "
            f"read, {left} that the spec leaves out"
        )


def _cells(row: SampleRow, names: list[str], *, raw: bool) -> Sequence[object]:
    if raw:
        return [_short(row.input)]
    if row.parsed is not None:
        held = row.parsed
        return [_time(held.get(n)) if n == "__time" else _short(held.get(n)) for n in names] + [""]
    message = printable(f"{row.error or row.reason}: {_short(row.input)}")
    return ["" for _ in names] + [Text(message, style="red" if row.unparseable else "")]


def _time(value: JsonValue) -> str:
    if not isinstance(value, int):
        return _short(value)
    try:
        moment = _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return str(value)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _short(value: JsonValue) -> str:
    if value is None:
        return ""
    if isinstance(value, dict) and list(value) == ["raw"]:
        value = value["raw"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_MAX else f"{line[:_SHOWN_MAX]}..."
