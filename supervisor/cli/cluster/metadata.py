"""`tidegate metadata ...`: downgrade the metadata database while no overlord runs."""

from typing import Annotated

import typer

from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Yes
from supervisor.cli.shell.output import print_notice, show_done
from supervisor.settings.settings import load_settings

commands = typer.Typer(
    no_args_is_help=True,
    cls=HelpSections,
    help="The metadata database: its schema.\n\nThese commands ask no overlord: they work on the "
    "metadata database (TIDEGATE_METADATA_URL).",
)


@commands.callback()
def _group() -> None:
    """Keep `downgrade` a command of the group, though it is the only one."""


@commands.command()
def downgrade(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="REVISION",
            help="Schema revision of the earlier release: it names its own when it refuses to "
            "start.",
            show_default=False,
        ),
    ],
    yes: Yes = False,
) -> None:
    """Bring the schema back to that of an earlier release, so that it starts again.

    Stop every overlord first: it is refused while one leads, and waits for TIDEGATE_LEASE_TTL to
    see that none does.  All rows that the earlier release knows stay.

    Example: tidegate metadata downgrade --to 0013
    """
    settings = load_settings()
    from supervisor.app import server

    for lost in server.lost_by_downgrade(to):
        print_notice(f"this will lose {lost}")
    if not yes:
        confirm(f"Bring the metadata database back to schema revision {to}?")
    done = server.downgrade_metadata(settings, to)
    show_done(to, f"the schema is of revision {to}" if done else "nothing was to be done")
