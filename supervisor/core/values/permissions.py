"""Who may do what: permission x grants x table -> yes or no; what no grant allows is denied.

    principal ──has──► grants: (role, pattern of tables) ──► permissions of the role, there

A worker's principal has no grants: it may do a worker's work and nothing else.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from supervisor.core.values.table_names import rows_table
from tasks.contract.patterns import matches

EVERYTHING = "*"
"""The pattern of every table, and the only one that counts for what is no single table's."""
NAME_MAX, COMMENT_MAX = 100, 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")
_PATTERN = re.compile(r"[A-Za-z0-9_.*-]{1,128}")


class Kind(StrEnum):
    """How a principal proves who it is; a WORKER does so by a token as well."""

    USER = "user"
    TOKEN = "token"  # noqa: S105 -- a word
    WORKER = "worker"


class Permission(StrEnum):
    """What a route asks for; the first three are granted to nobody in particular."""

    OPEN = "open"
    """Nobody is asked."""
    SIGNED_IN = "signed-in"
    """Whoever has proved who it is, workers aside."""
    WORK = "work"
    """A worker's calls."""
    READ = "read"
    APPLY = "apply"
    SUSPEND = "suspend"
    HAND_OFF = "handoff"
    COMPACT = "compact"
    REPLAY = "replay"
    STOP_TASK = "task-stop"
    FLOW_APPLY = "flow-apply"
    FLOW_RUN = "flow-run"
    FLOW_APPROVE = "flow-approve"
    TERMINATE = "terminate"
    RESET = "reset"
    FORGET = "forget"
    DELETE = "delete"
    REPAIR = "queue-repair"
    WORKERS = "workers"
    ACCESS = "access"
    AUDIT = "audit"


class Role(StrEnum):
    """A named set of permissions; each has those of the one before."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


_VIEWER = frozenset({Permission.READ})
_OPERATOR = _VIEWER | {
    Permission.APPLY,
    Permission.SUSPEND,
    Permission.HAND_OFF,
    Permission.COMPACT,
    Permission.REPLAY,
    Permission.STOP_TASK,
    Permission.FLOW_APPLY,
    Permission.FLOW_RUN,
    Permission.FLOW_APPROVE,
}
_ADMIN = _OPERATOR | {
    Permission.TERMINATE,
    Permission.RESET,
    Permission.FORGET,
    Permission.DELETE,
    Permission.REPAIR,
    Permission.WORKERS,
    Permission.ACCESS,
    Permission.AUDIT,
}
PERMISSIONS: Mapping[Role, frozenset[Permission]] = MappingProxyType(
    {Role.VIEWER: _VIEWER, Role.OPERATOR: _OPERATOR, Role.ADMIN: _ADMIN}
)


@dataclass(frozen=True)
class Grant:
    """A role on the tables whose names a pattern matches."""

    role: Role
    tables: str
    """`*` stands for any signs; everything else for itself."""
    topics: str = EVERYTHING
    """The topics that a spec of these tables may read; a pattern like `tables`."""

    def __str__(self) -> str:
        """Return the grant as the command line shows it."""
        limited = "" if self.topics == EVERYTHING else f" from topics {self.topics}"
        return f"{self.role} on {self.tables}{limited}"


@dataclass(frozen=True)
class Principal:
    """Who may call, and how it proves that; a row that is never deleted, only revoked."""

    name: str
    kind: Kind
    secret: str
    """Argon2's text of a password, or the SHA-256 of a token in hex."""
    grants: tuple[Grant, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    version: int = 1

    def live(self, now: datetime) -> bool:
        """Tell whether it may be used."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def administers(self, now: datetime) -> bool:
        """Tell whether it may do everything, everywhere, now."""
        return self.live(now) and Grant(Role.ADMIN, EVERYTHING) in self.grants


@dataclass(frozen=True)
class Caller:
    """Who sent a request, as far as it was asked."""

    name: str
    kind: Kind | None
    """None: nobody was asked, or nothing had to be proved."""
    grants: tuple[Grant, ...] = ()
    address: str = ""
    until: datetime | None = None
    """When what it was proved by ends; None: it has no end."""
    session: str | None = field(default=None, repr=False)
    """The digest of the session that proved it; None: no session did."""

    def may(self, permission: Permission, table: str | None) -> bool:
        """Tell whether it may do this to a table; None: to what is no single table's."""
        match permission:
            case Permission.OPEN:
                return True
            case Permission.WORK:
                return self.kind is Kind.WORKER or self.is_anyone
            case Permission.SIGNED_IN:
                return self.kind in {Kind.USER, Kind.TOKEN} or self.is_anyone
        return self.kind is not Kind.WORKER and allowed(self.grants, permission, table)

    def may_apply(self, table: str, topic: str | None) -> bool:
        """Tell whether it may apply a spec of a table that reads a topic; None: several topics."""
        if self.kind is Kind.WORKER:
            return False
        grants = [grant for grant in self.grants if _reads(grant, topic)]
        return allowed(grants, Permission.APPLY, table)

    def may_somewhere(self, permission: Permission) -> bool:
        """Tell whether there is a table to which it may do this."""
        if self.may(permission, None):
            return True
        own = any(permission in PERMISSIONS[grant.role] for grant in self.grants)
        return own and self.kind is not Kind.WORKER

    def may_read(self, table: str) -> bool:
        """Tell whether it may read a table and what belongs to it."""
        return self.may(Permission.READ, table)

    @property
    def reads_all(self) -> bool:
        """It may read every table."""
        return self.may(Permission.READ, None)

    @property
    def is_anyone(self) -> bool:
        """Nobody was asked who it is, and it may do everything."""
        return self.kind is None and Grant(Role.ADMIN, EVERYTHING) in self.grants


ANYONE = Caller("", None, (Grant(Role.ADMIN, EVERYTHING),))
"""Whoever calls where nobody is asked."""
UNKNOWN = Caller("", None)
"""Whoever calls without credentials where they are asked for."""


def allowed(grants: Iterable[Grant], permission: Permission, table: str | None) -> bool:
    """Tell whether any grant allows this; a table's grant covers its table of errors."""
    return any(
        permission in PERMISSIONS[grant.role] and _covers(grant.tables, table) for grant in grants
    )


def permitted(grants: Iterable[Grant]) -> dict[Permission, tuple[str, ...]]:
    """Return permission -> the patterns of tables on which grants allow it, by name.

    Permissions that nothing allows are left out; beside `*` no other pattern is named.
    """
    patterns: dict[Permission, set[str]] = {}
    for grant in grants:
        for permission in PERMISSIONS[grant.role]:
            patterns.setdefault(permission, set()).add(grant.tables)
    return {
        permission: (EVERYTHING,) if EVERYTHING in found else tuple(sorted(found))
        for permission in Permission
        if (found := patterns.get(permission))
    }


def _covers(pattern: str, table: str | None) -> bool:
    if pattern == EVERYTHING:
        return True
    return table is not None and (matches(pattern, table) or matches(pattern, rows_table(table)))


def _reads(grant: Grant, topic: str | None) -> bool:
    if grant.topics == EVERYTHING:
        return True
    return topic is not None and matches(grant.topics, topic)


def principal_name_problem(name: str) -> str | None:
    """Return what is wrong with a principal's name; None if it is fine."""
    if len(name) > NAME_MAX or _NAME.fullmatch(name) is None:
        return f"{name[:NAME_MAX]!a} is not a name: letters, digits and . _ @ - only"
    return None


def pattern_problem(pattern: str) -> str | None:
    """Return what is wrong with a pattern of tables or topics; None if it is fine."""
    if _PATTERN.fullmatch(pattern) is None:
        return f"{pattern[:NAME_MAX]!a} is no pattern: a name, with * for any signs"
    return None


class Actor(str):
    """The name of who acts; what it says of itself and of the change goes on record beside it."""

    __slots__ = ("beside", "reason")
    beside: Mapping[str, str]
    reason: str | None
    """Why it changes something, in its own words; None: it gives no reason."""

    @classmethod
    def of(cls, caller: Caller, comment: str, reason: str | None = None) -> "Actor":
        """Return the actor that a caller is."""
        fields = {"comment": comment, "address": caller.address}
        beside = {key: value for key, value in fields.items() if value}
        return cls.named(caller.name, reason, beside)

    @classmethod
    def named(
        cls, name: str, reason: str | None, beside: Mapping[str, str] = MappingProxyType({})
    ) -> "Actor":
        """Return an actor by its name alone: nobody was asked who it is."""
        actor = cls(name)
        actor.beside, actor.reason = beside, reason
        return actor


def reason_of(author: str) -> str | None:
    """Return why an author changes something; None: no reason was given."""
    return author.reason if isinstance(author, Actor) else None


@dataclass(frozen=True)
class DeniedTry:
    """Tries that were refused alike within a short time."""

    first_at: datetime
    last_at: datetime
    times: int
    name: str
    """Of the principal that was claimed or proved; empty: of none that there is."""
    address: str
    what: str
    """Method and path of the route, or the way of proving."""
    why: str
