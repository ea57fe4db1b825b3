"""Settings of access control, the workers' own port and TLS; `settings.py` includes them."""

import base64
import ssl
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic.config import JsonDict
from pydantic_settings import BaseSettings, SettingsConfigDict

from supervisor.core.values.field_types import LongDuration
from supervisor.settings.credentials import File, credential, line_of
from supervisor.settings.problems import SetupProblem

PREFIX = "TIDEGATE_"
TOKEN = "TIDEGATE_TOKEN"  # noqa: S105 -- the name of a variable


def _none(unit: str = "file") -> JsonDict:
    return {"default": "none", "unit": unit}


class AccessSettings(BaseSettings):
    """Operator settings of callers, credentials, the workers' own port and TLS."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid"
    )

    auth: Literal["auto", "required"] = Field(
        default="auto",
        description="Whether an overlord asks its callers who they are: auto (not on loopback, "
        "everywhere else) or required.",
    )
    token_file: File | None = Field(
        default=None,
        description="File with the token that a worker or the command line sends; "
        "the variable TIDEGATE_TOKEN, which is no setting, wins.",
        json_schema_extra=_none(),
    )
    user: str | None = Field(
        default=None,
        description="Name that the command line sends with a password, if it has no token.",
        json_schema_extra=_none(""),
    )
    password_file: File | None = Field(
        default=None,
        description="File with the password of TIDEGATE_USER.",
        json_schema_extra=_none(),
    )
    password_memory: int = Field(
        default=65_536,
        ge=8,
        le=1_048_576,
        description="Memory that checking one password takes; two are checked at once.",
        json_schema_extra={"unit": "KiB"},
    )
    password_passes: int = Field(
        default=3,
        ge=1,
        le=100,
        description="How often checking a password goes over its memory.",
        json_schema_extra={"unit": "passes"},
    )
    lockout_failures: int = Field(
        default=10,
        ge=1,
        le=1_000,
        description="After so many wrong passwords in a row a name is not heard from that address; "
        "after ten times as many, the address is not.",
        json_schema_extra={"unit": "failures"},
    )
    lockout: LongDuration = Field(
        default=timedelta(minutes=1),
        description="For how long, since the last failure.",
        json_schema_extra={"unit": "ISO 8601 duration"},
    )
    rate_limit: int = Field(
        default=100,
        ge=1,
        le=100_000,
        description="Requests a second of one caller from one address, ten times as many at once; "
        "counted where callers are asked who they are, workers aside.",
        json_schema_extra={"unit": "requests/s"},
    )
    internal_port: int | None = Field(
        default=None,
        ge=1,
        le=65_535,
        description="Port of an overlord for its workers alone; then TIDEGATE_PORT serves them no "
        "more, and the TIDEGATE_OVERLORDS of workers name this one.",
        json_schema_extra={"default": "none: workers call TIDEGATE_PORT"},
    )
    tls_cert: File | None = Field(
        default=None,
        description="Certificate, with its chain, of an overlord that serves HTTPS (PEM).",
        json_schema_extra=_none(),
    )
    tls_key: File | None = Field(
        default=None,
        description="Private key of TIDEGATE_TLS_CERT (PEM, without a password).",
        json_schema_extra=_none(),
    )
    tls_ca: File | None = Field(
        default=None,
        description="Authorities that workers, the command line and followers trust to name an "
        "overlord (PEM).",
        json_schema_extra={"default": "those of the system", "unit": "file"},
    )

    def token(self) -> str | None:
        """Return the token that this process sends; None: no token is set.

        Raises:
            SetupProblem: the token's file cannot be read, or the text is not a token.
        """
        return credential(TOKEN, self.token_file)

    def authorization(self) -> str | None:
        """Return the Authorization header of the command line; None: no credentials are set.

        Raises:
            SetupProblem: a file cannot be read.
        """
        if token := self.token():
            return f"Bearer {token}"
        if self.user is None:
            return None
        if self.password_file is None:
            raise SetupProblem(
                "TIDEGATE_USER is set without a password", "set TIDEGATE_PASSWORD_FILE as well"
            )
        credentials = f"{self.user}:{line_of(self.password_file, 'TIDEGATE_PASSWORD_FILE')}"
        return f"Basic {base64.b64encode(credentials.encode()).decode()}"

    def trust(self) -> ssl.SSLContext | bool:
        """Return the value of the parameter `verify` of httpx.

        Raises:
            SetupProblem: the file of certificate authorities cannot be read.
        """
        return trusted(self.tls_ca)


def trusted(authorities: Path | None) -> ssl.SSLContext | bool:
    """Return a TLS context that trusts only these authorities; True: those of the system.

    Raises:
        SetupProblem: the file cannot be read.
    """
    if authorities is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(authorities))
    except (OSError, ssl.SSLError) as error:
        raise SetupProblem(
            f"TIDEGATE_TLS_CA: {authorities} cannot be read: {error}", "name a file of PEM"
        ) from error
