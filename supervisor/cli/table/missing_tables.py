"""Explanation of a missing table in a query: it does not exist, or has no published rows."""

from collections.abc import Sequence
from difflib import get_close_matches

from supervisor.cli.shell.client import Client
from supervisor.cli.shell.problems import CommandFailed, ProblemAnswer
from supervisor.cli.table.case_names import folded
from supervisor.cli.table.duck import NoSuchTable
from supervisor.cli.table.segments import data_sources, files_of
from supervisor.core.values.table_names import errors_table, is_errors_table, rows_table
from supervisor.views.tables.files import TableFiles


def why_missing(
    client: Client, error: NoSuchTable, tables: Sequence[TableFiles], *, fresh: bool
) -> CommandFailed:
    """Return the error with an explanation and a hint; `tables` are those of the query."""
    for table in tables:
        if not table.files and folded(table.data_source) == folded(error.name):
            return _without_rows(client, table.data_source, fresh=fresh)
    known = data_sources(client)
    by_case = {folded(name): name for name in known}
    near = get_close_matches(folded(error.name), by_case, n=1)
    if near:
        return CommandFailed(str(error), f"did you mean {by_case[near[0]]}?")
    return CommandFailed(str(error), f"tables: {', '.join(known) or 'none yet'}")


def _without_rows(client: Client, name: str, *, fresh: bool) -> CommandFailed:
    if is_errors_table(name):
        feeds = rows_table(name)
        return CommandFailed(
            f"{name} has no rows", f"no published range of {feeds} has a record to keep there"
        )
    if rejected := _rejected(client, name):
        return CommandFailed(
            f"{name} has no published rows: {rejected} records were rejected",
            f"query {errors_table(name)}, or see `tidegate quarantine list`",
        )
    due = "it publishes when its taskDuration is over (see `tidegate supervisor status`)"
    return CommandFailed(
        f"{name} has no {'' if fresh else 'published '}rows yet",
        due if fresh else f"{due}; --fresh shows what is written by now",
    )


def _rejected(client: Client, name: str) -> int:
    """Return the number of a table's published bad records."""
    try:
        table = files_of(client, errors_table(name), fresh=False)
    except ProblemAnswer:
        return 0
    return sum(file.rows for file in table.files)
