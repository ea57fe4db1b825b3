"""`--if-version`: a flow is changed only if its newest version is the one that the caller saw."""

from collections.abc import Mapping
from typing import Annotated

import typer

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.problems import CommandFailed
from supervisor.views.flows.flows import FlowVersionView

__all__ = ["IfFirst", "IfVersion", "precondition"]

_FLOWS = "/api/v1/flows"
_HELP = "Only if this is its newest version; else nothing is done."

IfVersion = Annotated[
    int | None,
    typer.Option("--if-version", metavar="N", min=1, show_default="any", help=_HELP),
]
IfFirst = Annotated[
    int | None,
    typer.Option(
        "--if-version",
        metavar="N",
        min=0,
        show_default="any",
        help=f"{_HELP} 0: only if there is no such flow.",
    ),
]


def precondition(client: Client, flow: str, version: int | None) -> Mapping[str, str]:
    """Return the headers by which a request changes this version of a flow, or nothing.

    `version` 0: there must be no flow; None: any version, and no header.

    Raises:
        CommandFailed: the newest version is another one.
        ProblemAnswer: there is no such flow.
    """
    if version is None:
        return {}
    if version == 0:
        return {"If-None-Match": "*"}
    answer = client.get(path_of(_FLOWS, flow))
    newest = answer.read(FlowVersionView).version
    if newest != version:
        raise CommandFailed(
            f"{flow} is at version {newest} now, and not at {version}: nothing is done",
            f"see what others changed: tidegate flow diff {flow} --from {version}",
        )
    if not answer.etag:
        raise CommandFailed(
            f"{answer.server} gives no ETag of a flow", "--if-version needs a newer overlord"
        )
    # Another version may come before the request: then the overlord refuses it by this tag.
    return {"If-Match": answer.etag}
