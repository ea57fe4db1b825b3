"""`tidegate whoami`: who the overlord takes the command for, and what it lets it do."""

from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import print_notice, show_json, show_table
from supervisor.views.callers import GrantView, Me

_PATH = "/api/v1/me"


def whoami(*, server: Server = None, output: Output = Format.TABLE) -> None:
    """Tell who the overlord takes you for, and what you may do on which tables.

    Example: tidegate whoami -o json
    """
    with connect(server) as client:
        answer = client.get(_PATH)
    if output is Format.JSON:
        show_json(answer.json())
        return
    me = answer.read(Me)
    rows = [(name, ", ".join(tables)) for name, tables in sorted(me.permissions.items())]
    show_table(("PERMISSION", "TABLES"), rows)
    print_notice(_sentence(me))


def _sentence(me: Me) -> str:
    if not me.asked:
        return "The overlord asks nobody who they are: everybody may do everything."
    until = "" if me.until is None else f", until {me.until.isoformat(timespec='seconds')}"
    grants = "; ".join(map(_format_grant, me.grants)) or "nothing"
    return f"You are {me.name} ({me.kind}){until}. Granted: {grants}."


def _format_grant(grant: GrantView) -> str:
    limited = "" if grant.topics == "*" else f" from topics {grant.topics}"
    return f"{grant.role} on {grant.tables}{limited}"
