"""`tidegate config ...`: list the profiles, and show the configuration in force."""

import os

import typer

from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output, Server
from supervisor.cli.shell.output import print_notice, show_json, show_table
from supervisor.cli.shell.profiles import (
    Chosen,
    config_file,
    load_profiles,
    overlords_in_force,
    profile_in_force,
    profile_name,
)

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Profiles of this command line."
)


@commands.command("list")
def list_all(output: Output = Format.TABLE) -> None:
    """List the profiles of ~/.config/tidegate/config.toml.

    Example: tidegate config list -o wide
    """
    path = config_file(os.environ)
    profiles, chosen = load_profiles(path).profiles, profile_name()
    if output is Format.JSON:
        show_json({name: each.model_dump(mode="json") for name, each in profiles.items()})
        return
    if not profiles:
        print_notice(f"There is no profile: {path} would hold them.")
    show_table(
        ("NAME", "OVERLORDS", "IN FORCE"),
        (
            (
                name,
                ", ".join(each.overlords or ()),
                "yes" if chosen is not None and chosen.value == name else "",
                each.output,
                each.token_file,
            )
            for name, each in profiles.items()
        ),
        wide=("OUTPUT", "TOKEN FILE"),
    )


@commands.command()
def show(server: Server = None, output: Output = Format.TABLE) -> None:
    """Show what a command would use, and where each value comes from.

    A flag counts before the environment, that before the profile, that before the settings.

    Example: TIDEGATE_PROFILE=prod tidegate config show
    """
    rows = list(_rows(server))
    if output is Format.JSON:
        show_json([{"name": n, "value": c.value, "source": c.source} for n, c in rows])
        return
    show_table(("NAME", "VALUE", "FROM"), ((n, c.value, c.source) for n, c in rows))


def _rows(server: str | None) -> list[tuple[str, Chosen]]:
    chosen, profile = profile_name(), profile_in_force()
    rows = [("profile", chosen or Chosen("", "none is named"))]
    rows += [("overlord", each) for each in overlords_in_force(server)]
    named = "default" if chosen is None else f"profile {chosen.value}"
    default = Chosen("table", "default")
    rows.append(("output", Chosen(profile.output, named) if profile.output else default))
    if profile.token_file is not None:
        rows.append(("token_file", Chosen(str(profile.token_file.expanduser()), named)))
    return rows
