"""An overlord that asks its callers who they are, and callers of every kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx

from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.core.values.permissions import Grant, Kind, Role
from supervisor.core.values.throttle import Lockout, Rate
from supervisor.ports.access import Passwords
from supervisor.services.access.authentication import AccessRules
from supervisor.services.access.principals import Principals
from tests.supervisor.api.world import PASSWORDS, World, a_world

OWN, FOREIGN = "clicks", "views"
ACCESS = AccessRules(Lockout(failures_max=5, lasts_s=60), Rate(per_s=1_000, burst=1_000_000))
CALM = timedelta(seconds=3)
"""After so long every overlord has read the principals anew."""


@dataclass
class Guarded:
    """A world, and the tokens of its callers."""

    world: World
    principals: Principals

    def token(self, name: str, *grants: Grant, kind: Kind = Kind.TOKEN) -> str:
        """Add a token that overlords know at once."""
        token = self.principals.add_token(name, grants, "test", kind=kind)
        self.world.clock.advance(CALM)
        return token

    def ask(
        self, method: str, path: str, token: str | None = None, body: object = None
    ) -> httpx.Response:
        """Send a request with a token, in both of its places, or without."""
        headers = {WORKERS_HEADER: token or ""} | ({} if token is None else bearer(token))
        sent: httpx.Response = self.world.client.request(method, path, headers=headers, json=body)
        return sent


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}


def grants_of(role: Role, tables: str = OWN, topics: str = "*") -> tuple[Grant, ...]:
    """One grant."""
    return (Grant(role, tables, topics),)


@contextmanager
def a_guarded_world(
    folder: Path,
    migrated: Path,
    access: AccessRules = ACCESS,
    *,
    leads: bool = True,
    passwords: Passwords = PASSWORDS,
) -> Iterator[Guarded]:
    """Build an overlord that asks who calls."""
    with a_world(folder, migrated, access=(access, passwords), leads=leads) as world:
        yield Guarded(world, Principals(world.store, world.clock, passwords))
