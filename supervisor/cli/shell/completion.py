"""Shell completion: commands by typer, ids by the overlord within `TIMEOUT_S`."""

from enum import StrEnum
from typing import Annotated

import httpx
import typer
from typer._completion_shared import get_completion_script

from supervisor.cli.shell.client import SUPERVISORS
from supervisor.cli.shell.output import show_text
from supervisor.cli.shell.profiles import overlords_in_force, settings_for, use_profile
from supervisor.core.values.errors import SupervisorError

TIMEOUT_S = 1.0
_VARIABLE = "_TIDEGATE_COMPLETE"


class Shell(StrEnum):
    """A shell with a completion script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[
        Shell, typer.Argument(metavar="SHELL", help="Your shell.", show_default=False)
    ],
) -> None:
    """Print a script that makes a shell complete commands, options and ids of supervisors.

    \b
    Examples:
      tidegate completion bash > ~/.local/share/bash-completion/completions/tidegate
      tidegate completion zsh > ~/.zfunc/_tidegate
      tidegate completion fish > ~/.config/fish/completions/tidegate.fish
    """
    show_text(
        get_completion_script(
            prog_name="tidegate", complete_var=_VARIABLE, shell=shell.value
        ).strip()
    )


def complete_ids(context: typer.Context, incomplete: str) -> list[str]:
    """Return the ids that begin with `incomplete`; none if no overlord answers in time."""
    use_profile(context.find_root().params.get("profile"))
    named = context.params.get("server")
    try:
        overlords = overlords_in_force(named if isinstance(named, str) else None)[:1]
        settings = settings_for(overlords)
        who = settings.authorization()
        answer = httpx.get(
            f"{overlords[0].value.rstrip('/')}{SUPERVISORS}",
            headers={} if who is None else {"Authorization": who},
            timeout=TIMEOUT_S,
            trust_env=False,
            verify=settings.trust(),
        )
        document: object = answer.json()
    except (SupervisorError, httpx.HTTPError, httpx.InvalidURL, ValueError):
        return []
    chosen = set(context.params.get("supervisor_ids") or ())
    ids = [each for each in document if isinstance(each, str)] if isinstance(document, list) else []
    return [each for each in ids if each.startswith(incomplete) and each not in chosen]
