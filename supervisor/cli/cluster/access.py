"""`tidegate access ...`: manage users, tokens and their roles.

The commands work on the metadata database itself (TIDEGATE_METADATA_URL), so that the first
administrator needs no server.  Anyone with access to the database may do everything anyway.
"""

import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output, Yes
from supervisor.cli.shell.output import print_notice, show_done, show_json, show_table
from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.values.field_types import parse_duration
from supervisor.core.values.permissions import EVERYTHING, Grant, Kind, Principal, Role
from supervisor.services.access.principals import Principals
from supervisor.settings.settings import load_settings

commands = typer.Typer(
    no_args_is_help=True,
    cls=HelpSections,
    help="Who may call: users, tokens, roles.\n\nThese commands ask no overlord: they work on the "
    "metadata database (TIDEGATE_METADATA_URL).",
)
users = typer.Typer(no_args_is_help=True, cls=HelpSections, help="Users, who have passwords.")
tokens = typer.Typer(no_args_is_help=True, cls=HelpSections, help="Tokens of programs.")
worker_tokens = typer.Typer(no_args_is_help=True, cls=HelpSections, help="Tokens of workers.")
commands.add_typer(users, name="user")
commands.add_typer(tokens, name="token")
commands.add_typer(worker_tokens, name="worker-token")

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the user or token.", show_default=False)
]
ToRole = Annotated[
    Role,
    typer.Option(
        "--role",
        help="viewer looks; operator also applies, suspends, hands off; admin may do all.",
        show_default=False,
    ),
]
On = Annotated[
    list[str],
    typer.Option(
        "--on",
        metavar="TABLES",
        show_default=False,
        help="Tables by name, * for any characters: '*' is everything. May be repeated.",
    ),
]
Topics = Annotated[
    list[str] | None,
    typer.Option(
        "--topics",
        metavar="TOPICS",
        show_default="all that the operator's settings allow",
        help="Topics that its specs may read, * for any characters. May be repeated.",
    ),
]
Expires = Annotated[
    str | None,
    typer.Option(
        "--expires",
        metavar="DURATION",
        show_default="until it is revoked",
        help="How long it is good for, ISO 8601, such as P90D.",
    ),
]
ToFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        show_default="stdout",
        help="Write it to a new file that you alone may read.",
    ),
]

_WORKERS = "workers.token"


@contextmanager
def _opened() -> Iterator[Principals]:
    from supervisor.app import server

    with server.open_principals(load_settings()) as principals:
        yield principals


def _actor() -> str:
    return f"local:{getpass.getuser()}"


def _grants(role: Role, on: list[str], topics: list[str] | None) -> list[Grant]:
    return [Grant(role, table, topic) for table in on for topic in topics or (EVERYTHING,)]


@users.command("add")
def add_user(name: Name, role: ToRole, on: On, topics: Topics = None) -> None:
    """Add a user; the password is asked for, or is the first line of stdin.

    Example: tidegate access user add ada --role viewer --on '*'
    """
    if sys.stdin.isatty():
        password = getpass.getpass("Password: ")
        if getpass.getpass("Once more: ") != password:
            raise CommandFailed("the two passwords differ")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    with _opened() as principals:
        grants = _grants(role, on, topics)
        principals.add_user(name, password, grants, _actor())
    print_notice(f"{name} is {', '.join(map(str, grants))}")


@tokens.command("create")
def create_token(
    name: Name,
    role: ToRole,
    on: On,
    *,
    topics: Topics = None,
    expires: Expires = None,
    file: ToFile = None,
) -> None:
    """Make a token and print it once: it cannot be shown again.

    \b
    Example:
      tidegate access token create ci --role operator --on clicks --file ci.token
    """
    until = None if expires is None else datetime.now(UTC) + _duration(expires)
    grants = _grants(role, on, topics)
    with _opened() as principals, _written(file) as write:
        write(principals.add_token(name, grants, _actor(), expires_at=until))
    print_notice(f"{name} is {', '.join(map(str, grants))}")


@worker_tokens.command("create")
def create_worker_token(name: Name, expires: Expires = None, file: ToFile = None) -> None:
    """Make a token for workers, which send it as TIDEGATE_TOKEN, and print it, once."""
    until = None if expires is None else datetime.now(UTC) + _duration(expires)
    with _opened() as principals, _written(file) as write:
        write(principals.add_token(name, (), _actor(), expires_at=until, kind=Kind.WORKER))
    print_notice(f"{name} is for workers")


def _second(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


@commands.command("list")
def list_principals(output: Output = Format.TABLE) -> None:
    """List who may call; also who no longer may."""
    with _opened() as principals:
        all_principals = principals.all()
    now = datetime.now(UTC)
    rows = [
        {
            "name": each.name,
            "kind": each.kind.value,
            "state": _state(each, now),
            "grants": [str(grant) for grant in each.grants],
            "created": _second(each.created_at),
            "expires": None if each.expires_at is None else _second(each.expires_at),
        }
        for each in all_principals
    ]
    if output is Format.JSON:
        show_json(rows)
        return
    columns = ("name", "kind", "state", "grants", "created", "expires")
    table_rows = [row | {"grants": ", ".join(row["grants"] or ())} for row in rows]
    headings = [name.upper() for name in columns]
    show_table(headings, [[row[name] for name in columns] for row in table_rows])


def _state(each: Principal, now: datetime) -> str:
    if each.revoked_at is not None:
        return "revoked"
    return "live" if each.live(now) else "expired"


@commands.command()
def grant(
    name: Name,
    role: ToRole,
    on: On,
    *,
    topics: Topics = None,
    only: Annotated[
        bool, typer.Option("--only", help="In place of what it could do before.")
    ] = False,
) -> None:
    """Let a user or a token do more, or, with --only, something else; it holds within seconds.

    Example: tidegate access grant ada --role operator --on 'web_*'
    """
    with _opened() as principals:
        wanted = _grants(role, on, topics)
        before = () if only else principals.grants(name)
        after = principals.grant(name, list(dict.fromkeys((*before, *wanted))), _actor())
    show_done(name, ", ".join(map(str, after.grants)))


@commands.command()
def revoke(name: Name, yes: Yes = False) -> None:
    """End a user or a token for good; overlords refuse it within seconds."""
    if not yes:
        confirm(f"Revoke {name}? It can never be used again, and nobody else gets this name.")
    with _opened() as principals:
        principals.revoke(name, _actor())
    show_done(name, f"{name} is revoked")


@commands.command()
def denied(
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", metavar="N", min=1, max=10_000, help="At most so many."),
    ] = 50,
    output: Output = Format.TABLE,
) -> None:
    """List calls that were refused for want of credentials or permission, newest first."""
    with _opened() as principals:
        denials = [vars(each) for each in principals.denied(limit)]
    if output is Format.JSON:
        show_json(denials)
        return
    columns = ("last_at", "times", "name", "address", "what", "why")
    headings = [name.upper().replace("_", " ") for name in columns]
    table_rows = ({**row, "last_at": _second(row["last_at"])} for row in denials)
    show_table(headings, [[row[column] for column in columns] for row in table_rows])


@commands.command()
def bootstrap(
    folder: Annotated[
        Path,
        typer.Option("--folder", metavar="FOLDER", help="Where admin.token and workers.token go."),
    ],
    workers_folder: Annotated[
        Path | None,
        typer.Option(
            "--workers-folder",
            metavar="FOLDER",
            help="Where workers.token goes instead, so that workers see no other token.",
            show_default="the same folder",
        ),
    ] = None,
) -> None:
    """Make a token of an administrator and one for workers, unless their files are there."""
    everything = (Grant(Role.ADMIN, EVERYTHING),)
    apart = workers_folder or folder
    _copy_token(folder / _WORKERS, apart / _WORKERS)
    with _opened() as principals:
        for name, file, kind, grants in (
            ("admin", folder / "admin.token", Kind.TOKEN, everything),
            ("workers", apart / _WORKERS, Kind.WORKER, ()),
        ):
            if file.exists():
                print_notice(f"{file} is there already")
                continue
            with _written(file) as write:
                write(principals.add_token(name, grants, _actor(), kind=kind))


def _copy_token(earlier: Path, file: Path) -> None:
    """Copy the workers' token from its earlier place, because a name has one token for ever.

    The earlier file stays, because the earlier release may be started again.
    """
    if file.exists() or not earlier.exists():
        return
    with _written(file) as write:
        write(earlier.read_text(encoding="ascii").strip())


class _TokenWriter:
    """Writes a token to the given file, or to stdout."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def __call__(self, token: str) -> None:
        if self._file is None:
            sys.stdout.write(f"{token}\n")
            return
        self._file.write_text(f"{token}\n", encoding="ascii")
        print_notice(f"the token is in {self._file}")


@contextmanager
def _written(file: Path | None) -> Iterator[_TokenWriter]:
    """Create the file before the token, which is shown only once; delete it if that fails."""
    if file is None:
        yield _TokenWriter(None)
        return
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise CommandFailed(f"{file} cannot be made: {error.strerror}") from error
    try:
        yield _TokenWriter(file)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        context = getattr(error, "context", None) or {}
        raise typer.BadParameter(f"{context.get('message')}: {context.get('hint')}") from None
