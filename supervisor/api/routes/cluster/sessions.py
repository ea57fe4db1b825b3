"""Routes of who calls: the caller itself, and the sessions of browsers."""

from typing import Annotated, Self

from fastapi import APIRouter, Depends, Header, Request, Response
from pydantic import ConfigDict, Field, model_validator

from supervisor.api.http.access import needs
from supervisor.api.http.console import (
    clear_session,
    require_console,
    session_secret,
    set_session,
)
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.proofs import Proofs, address_of, note_refusal
from supervisor.core.values.errors import (
    NotAllowed,
    NotOffered,
    SessionNotFound,
    TooManyRequests,
    Unauthenticated,
)
from supervisor.core.values.permissions import Caller, Kind, Permission
from supervisor.services.access.authentication import Authentication, Credentials
from supervisor.views.callers import Me, me_view
from tasks.contract.wire import Wire

router = APIRouter(prefix="/api/v1", tags=["cluster"])

_Text = Annotated[str | None, Field(min_length=1, max_length=4_096)]


class Login(Wire):
    """Who logs in: by a token, or by a name and a password."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["token"]}, {"required": ["name", "password"]}],
            "examples": [{"token": "tdg_..."}],
        }
    )

    token: _Text = Field(default=None, repr=False)
    name: _Text = None
    password: _Text = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = [self.token is not None, self.name is not None, self.password is not None]
        if given not in ([True, False, False], [False, True, True]):
            raise ValueError("give a token alone, or a name and a password")
        return self

    def credentials(self) -> Credentials:
        """Return what is to be proved."""
        return Credentials(self.name, self.token or self.password or "")


@router.get("/me", dependencies=[needs(Permission.SIGNED_IN)])
def get_me(asking: Asking, parts: Parts) -> Me:
    """Tell who calls, and what it may do on which tables."""
    return me_view(asking, asked=parts.authentication is not None)


async def _proved(
    wanted: Login,
    request: Request,
    parts: Parts,
    x_tidegate_console: Annotated[str, Header(description="`1`: it is the console's page.")] = "",
) -> Caller:
    """Prove the body's credentials, within the bounds of those in a header."""
    authentication = _asking(parts)
    require_console(x_tidegate_console)
    credentials, proofs = wanted.credentials(), request.state.proofs
    assert isinstance(proofs, Proofs)
    try:
        caller = await proofs.caller(authentication, credentials, address_of(request))
        authentication.admit(caller)
        _require_no_worker(caller)
    except (Unauthenticated, TooManyRequests, NotAllowed) as refused:
        note_refusal(request, authentication, credentials.name, refused)
        raise
    return caller


@router.post("/sessions", dependencies=[needs(Permission.OPEN)])
def begin_session(
    caller: Annotated[Caller, Depends(_proved)], request: Request, response: Response, parts: Parts
) -> Me:
    """Log the console's browser in: the answer's cookie stands for the credentials from then on.

    It counts beside the header `X-Tidegate-Console: 1` alone, and ends 12 hours after its last use.
    """
    secret, in_session = _asking(parts).begin_session(caller, _shown(request))
    set_session(request, response, secret)
    return me_view(in_session, asked=True)


@router.delete("/sessions/current", status_code=204, dependencies=[needs(Permission.SIGNED_IN)])
def end_session(asking: Asking, request: Request, response: Response, parts: Parts) -> None:
    """Log out: the session ends at once, and nobody who has its cookie is let in any more."""
    if not _asking(parts).sessions.end(asking):
        raise SessionNotFound
    clear_session(request, response)


def _require_no_worker(caller: Caller) -> None:
    if caller.kind is Kind.WORKER:
        raise NotAllowed("a worker's token may do a worker's calls only")


def _shown(request: Request) -> str | None:
    """Return the secret of the session that a new one takes the place of."""
    try:
        return session_secret(request)
    except Unauthenticated:  # several cookies: none of them counts
        return None


def _asking(parts: Parts) -> Authentication:
    if parts.authentication is None:
        raise NotOffered("nobody is asked here who they are: no session is needed")
    return parts.authentication
