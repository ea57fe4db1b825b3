"""Response model of remedies: steps that a client can offer, each with what it needs."""

from collections.abc import Sequence

from supervisor.core.attention.remedies import Remedy, RemedyAction, RemedyValue
from supervisor.core.values.permissions import Permission
from tasks.contract.wire import Wire


class RemedyView(Wire):
    """A step that may help a supervisor; nothing does it by itself."""

    action: RemedyAction
    label: str
    """The step in words."""
    params: dict[str, RemedyValue]
    """The values of the step, from the last look; `offsets`: partition -> next offset."""
    permission: Permission | None
    """What a caller needs for it; null: it is nothing of the API."""
    command: str | None
    """The same by the command line; null: there is no single command for it."""


def remedy_views(remedies: Sequence[Remedy]) -> list[RemedyView]:
    """Return remedies in the form of the API, in their order."""
    return [
        RemedyView(
            action=remedy.action,
            label=remedy.label,
            params=dict(remedy.params),
            permission=remedy.permission,
            command=remedy.command or None,
        )
        for remedy in remedies
    ]
