"""Response model of the caller: who it is, and what it may do where."""

from supervisor.core.values.permissions import Caller, Kind, Permission, Role, permitted
from tasks.contract.wire import Instant, Wire


class GrantView(Wire):
    """A role on tables, by a pattern of their names."""

    role: Role
    tables: str
    topics: str
    """The topics that specs of these tables may read."""


class Me(Wire):
    """The caller as this overlord knows it."""

    name: str
    """Empty where nobody is asked who it is."""
    kind: Kind | None
    """How it has proved who it is; null where nobody is asked."""
    asked: bool
    """Whether this overlord asks callers who they are."""
    session: bool
    """Whether the cookie of a session proved it."""
    grants: list[GrantView]
    permissions: dict[Permission, list[str]]
    """Permission -> patterns of the tables on which the caller has it; `*` is everything."""
    until: Instant | None
    """When the session or the token ends; null: it has no end."""


def me_view(caller: Caller, *, asked: bool) -> Me:
    """Return the response for one caller."""
    return Me(
        name=caller.name,
        kind=caller.kind,
        asked=asked,
        session=caller.session is not None,
        grants=[GrantView(role=g.role, tables=g.tables, topics=g.topics) for g in caller.grants],
        permissions={name: list(where) for name, where in permitted(caller.grants).items()},
        until=caller.until,
    )
