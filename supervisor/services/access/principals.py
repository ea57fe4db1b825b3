"""Principals: adding, granting and revoking; the verbs of `tidegate access`.

The module needs only the metadata database, so that the first administrator needs no server.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from supervisor.core.model.rows import AuditEntry
from supervisor.core.values.errors import PrincipalRefused, StateMoved
from supervisor.core.values.permissions import (
    DeniedTry,
    Grant,
    Kind,
    Principal,
    pattern_problem,
    principal_name_problem,
)
from supervisor.ports.access import Passwords
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction

PASSWORD_MIN, PASSWORD_MAX = 12, 1_000
TOKEN_PREFIX = "tdg_"  # noqa: S105 -- the prefix by which code scanners find leaked tokens


def new_secret() -> str:
    """Return a new token: 32 random bytes as text, behind a prefix."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def fingerprint(token: str) -> str:
    """Return the stored form of a token: its SHA-256; 32 random bytes need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


@dataclass(frozen=True)
class Principals:
    """The verbs on principals; `actor` is the person or program that carries them out."""

    store: Store
    clock: Clock
    passwords: Passwords

    def add_user(self, name: str, password: str, grants: Sequence[Grant], actor: str) -> None:
        """Add a user with a password.

        Raises:
            PrincipalRefused: the name was used before, or the name, password or a grant is invalid.
        """
        if not PASSWORD_MIN <= len(password) <= PASSWORD_MAX:
            raise PrincipalRefused(
                f"a password has {PASSWORD_MIN} to {PASSWORD_MAX} signs, this one {len(password)}"
            )
        _check(name, grants)
        secret = self.passwords.hash(password)
        self._add(Principal(name, Kind.USER, secret, tuple(grants), self.clock.now()), actor)

    def add_token(
        self,
        name: str,
        grants: Sequence[Grant],
        actor: str,
        *,
        expires_at: datetime | None = None,
        kind: Kind = Kind.TOKEN,
    ) -> str:
        """Add a token of a program or of workers, and return it; only its fingerprint is stored.

        Raises:
            PrincipalRefused: the name was used before, or a name, expiry or grant is invalid.
        """
        _check(name, grants)
        now = self.clock.now()
        if expires_at is not None and expires_at <= now:
            raise PrincipalRefused("it would have expired already")
        token = new_secret()
        row = Principal(name, kind, fingerprint(token), tuple(grants), now, expires_at)
        self._add(row, actor)
        return token

    def _add(self, row: Principal, actor: str) -> None:
        with self.store.writing() as tx:
            if not tx.access.add(row):
                raise PrincipalRefused(
                    f"{row.name} is taken: a name is used once, also after it was revoked"
                )
            detail = {"kind": row.kind.value, "grants": _format_grants(row.grants)}
            self._audit(tx, actor, "access add", row.name, detail)

    def grant(self, name: str, grants: Sequence[Grant], actor: str) -> Principal:
        """Set the grants of a principal, in place of its earlier ones.

        Raises:
            PrincipalRefused: no usable principal has this name, or it is a worker.
        """
        _check(name, grants)
        with self.store.writing() as tx:
            before = self._live(tx, name)
            if before.kind is Kind.WORKER:
                raise PrincipalRefused(f"{name} is a worker's token: it takes no grants")
            after = replace(before, grants=tuple(grants), version=before.version + 1)
            _put(tx, after)
            detail = {"grants": _format_grants(grants), "before": _format_grants(before.grants)}
            self._audit(tx, actor, "access grant", name, detail)
        return after

    def revoke(self, name: str, actor: str) -> None:
        """Revoke a principal for good; its name stays taken.

        Raises:
            PrincipalRefused: no usable principal has this name.
        """
        with self.store.writing() as tx:
            before = self._live(tx, name)
            _put(tx, replace(before, revoked_at=self.clock.now(), version=before.version + 1))
            self._audit(tx, actor, "access revoke", name, {})

    def all(self) -> list[Principal]:
        """Return every principal, by name, also revoked ones."""
        with self.store.reading() as tx:
            return tx.access.all()

    def grants(self, name: str) -> tuple[Grant, ...]:
        """Return the present grants of a principal.

        Raises:
            PrincipalRefused: no usable principal has this name.
        """
        with self.store.reading() as tx:
            return self._live(tx, name).grants

    def denied(self, limit: int) -> list[DeniedTry]:
        """Return denied tries, newest first."""
        with self.store.reading() as tx:
            return tx.access.denied(limit)

    def has_admin(self) -> bool:
        """Whether any usable principal is an administrator of everything."""
        now = self.clock.now()
        return any(each.administers(now) for each in self.all())

    def _live(self, tx: Transaction, name: str) -> Principal:
        principal = tx.access.get(name)
        if principal is None:
            raise PrincipalRefused(f"there is no {name}: `tidegate access list` shows who there is")
        if not principal.live(self.clock.now()):
            raise PrincipalRefused(f"{name} was revoked, or has expired: add another")
        return principal

    def _audit(
        self, tx: Transaction, actor: str, action: str, name: str, detail: dict[str, str]
    ) -> None:
        tx.audit.write(AuditEntry(self.clock.now(), actor, action, name, detail))


def _put(tx: Transaction, row: Principal) -> None:
    if not tx.access.put(row):
        raise StateMoved(f"somebody else has changed {row.name} just now: look, and try again")


def _format_grants(grants: Sequence[Grant]) -> str:
    return ", ".join(map(str, grants))


def _check(name: str, grants: Sequence[Grant]) -> None:
    patterns = (pattern for grant in grants for pattern in (grant.tables, grant.topics))
    problems = [principal_name_problem(name), *map(pattern_problem, patterns)]
    if found := [problem for problem in problems if problem]:
        raise PrincipalRefused("; ".join(found))
