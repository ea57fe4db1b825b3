"""Output of commands: answers on stdout, as a table or as data, and notices on stderr.

A table is for people.  Without a terminal it is as wide as its content; without a terminal, or with
NO_COLOR, it has no colours.  Control characters in texts of others cannot steer the terminal.
"""

import json
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

import yaml
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from supervisor.cli.shell.form import Format, form, naming
from supervisor.cli.shell.names import Rows
from supervisor.cli.shell.problems import CommandFailed, ProblemAnswer
from supervisor.core.values.errors import FieldError, SupervisorError
from supervisor.settings.problems import SetupProblem

_CELL_MAX = 80
_PIPE_WIDTH = 10_000
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""Signs that move a cursor, that are none, or that show what follows in another order."""
_RED = {"UNHEALTHY_SUPERVISOR", "UNHEALTHY_TASKS", "FAILED", "violated", "problem"}
_YELLOW = {"PENDING", "SUSPENDED", "STOPPING", "offsets only", "note"}
_GREEN = {"RUNNING", "SUCCESS", "IDLE", "COMPLETED", "proven", "ok"}


def print_notice(text: str) -> None:
    """Print a notice, which is not part of the answer, on stderr."""
    talk_console().print(printable(text), soft_wrap=True)


def show_json(value: object) -> None:
    """Print the answer as data: YAML with `-o yaml`, otherwise JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    if form() is not Format.YAML:
        # JSON takes signs as they are that a terminal obeys: they are in texts alone.
        sys.stdout.write(_OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")
        return
    plain: object = json.loads(text)  # only types that need no YAML tag
    as_it_is = _OBEYED.search(text) is None  # else it is written in escapes
    yaml.safe_dump(plain, sys.stdout, sort_keys=False, allow_unicode=as_it_is, width=_PIPE_WIDTH)


def short_json(value: object) -> str:
    """Return a value as JSON on one line, cut where a cell of a table would be too wide."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _CELL_MAX else f"{text[:_CELL_MAX]}..."


def show_text(text: str) -> None:
    """Print a line of the answer; nothing with `-o name`."""
    if form() is not Format.NAME:
        _answer_console().print(_painted(text), soft_wrap=True)


def show_done(name: str, text: str) -> None:
    """Print what was done; with `-o name`, print the name of the thing instead."""
    show_name(name)
    show_text(text)


def show_name(*words: object) -> None:
    """With `-o name`, print the name of the thing: the words that the next verb takes."""
    if form() is Format.NAME:
        printable_words = [printable(str(word)) for word in words]
        # Several words are quoted for a shell to split; a single word is printed as it is.
        line = shlex.join(printable_words) if len(printable_words) > 1 else printable_words[0]
        sys.stdout.write(f"{line}\n")


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, wide: Sequence[str] = ()
) -> None:
    """Print the answer as a table; None is an empty cell.

    Cells of the columns `wide` are last in each row.  With `-o name`, `names.py` selects the cells
    that are printed.
    """
    if form() is Format.NAME:
        _show_names((*columns, *wide), rows)
        return
    columns = (*columns, *wide) if form() is Format.WIDE else columns
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    rows = [tuple(row)[: len(columns)] for row in rows]
    for position, name in enumerate(columns):
        numbers = bool(rows) and all(isinstance(row[position], int | float | None) for row in rows)
        table.add_column(printable(name), justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(cell) for cell in row))
    _print_table(table)


def _show_names(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print the ids of rows, each once, because several rows may have the same id."""
    found = naming()
    if isinstance(found, Rows):
        places = [columns.index(name) for name in found.columns]
        for words in dict.fromkeys(tuple(row[place] for place in places) for row in rows):
            show_name(*words)


def show_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one pair per line; pairs without a value are left out."""
    if form() is Format.NAME:
        return
    table = Table(box=None, pad_edge=False, show_header=False, show_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts:
        if value not in {None, ""}:
            table.add_row(printable(name), _painted(str(value)))
    _print_table(table)


def progress_bar(*, of_bytes: bool = False) -> Progress:
    """Return a progress display on stderr; it shows nothing without a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(binary_units=True) if of_bytes else MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=talk_console(),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def spinner(text: str) -> AbstractContextManager[object]:
    """Return a spinner on stderr for the time of a wait."""
    console = talk_console()
    if not console.is_terminal:
        print_notice(text)
    return console.status(Text(printable(text)))


def show_error(error: SupervisorError) -> None:
    """Print an error and, where known, a hint."""
    console = talk_console()
    title = error.title if isinstance(error, ProblemAnswer) else ""
    places = error.errors if isinstance(error, ProblemAnswer) else ()
    text = printable(str(error))
    console.print(Text("error:", style="bold red"), end=" ")
    if places:
        console.print(printable(title or "refused"), soft_wrap=True)
    elif title and title.lower() != text.lower():
        console.print(f"{printable(title)}\n{text}", soft_wrap=True)
    else:
        console.print(text, soft_wrap=True)
    for place in places:
        _show_field_error(console, place)
    if isinstance(error, SetupProblem):
        console.print(f"fix: {printable(error.fix)}", soft_wrap=True)
    if isinstance(error, CommandFailed) and error.hint:
        console.print(f"hint: {printable(error.hint)}", soft_wrap=True)


def talk_console() -> Console:
    """Return the console of stderr."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def printable(text: str) -> str:
    """Return `text` with signs made visible that a terminal obeys; line breaks and tabs stay."""
    return _OBEYED.sub(lambda match: _named(match[0]), text)


def ago(moment: datetime | str | None, now: datetime) -> str:
    """Return the time since or until a moment, in one or two units; a text is in ISO 8601."""
    if not moment:
        return ""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    apart = now - moment
    return (
        f"{short_duration(apart)} ago" if apart >= timedelta(0) else f"in {short_duration(-apart)}"
    )


def size(number: int) -> str:
    """Return a number of bytes for people, such as `1.5 MiB`."""
    amount = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:  # noqa: PLR2004 -- the step between these units
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def short_duration(duration: timedelta) -> str:
    """Return a duration in one or two units, such as `2h10m`."""
    seconds = int(duration.total_seconds())
    for length, unit, smaller, below in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "m")):
        if seconds >= length:
            return f"{seconds // length}{unit}{seconds % length // smaller}{below}"
    return f"{seconds // 60}m{seconds % 60}s" if seconds >= 60 else f"{seconds}s"  # noqa: PLR2004 -- a minute


def _show_field_error(console: Console, error: FieldError) -> None:
    hint = f" ({error.hint})" if error.hint else ""
    console.print(printable(f"  {error.pointer or '/'}: {error.message}{hint}"), soft_wrap=True)


def _answer_console() -> Console:
    console = Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def _print_table(table: Table) -> None:
    console = _answer_console()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    # Rich pads a table to its width, which is unwanted in a file or a pipe.
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _cell(value: object) -> Text:
    """Return a cell as text; a cell that has a colour already keeps it."""
    return value if isinstance(value, Text) else _painted("" if value is None else str(value))


def _painted(text: str) -> Text:
    style = "red" if text in _RED else "yellow" if text in _YELLOW else ""
    return Text(printable(text), style="green" if text in _GREEN else style)


def _named(sign: str) -> str:
    return f"\\x{ord(sign):02x}" if ord(sign) < 256 else f"\\u{ord(sign):04x}"  # noqa: PLR2004 -- two digits
