"""The HTTP client of persisters: short waits, since an answer is only shown."""

import ssl
from collections.abc import Mapping
from http import HTTPStatus

import httpx
from pydantic import BaseModel, Field, ValidationError

from supervisor.ports.reports.persisters import PersisterAnswer, PersisterSilent

__all__ = ["HttpPersisters"]

_PATIENCE_S = 2.0
_BYTES_MAX = 1024 * 1024


class _Status(BaseModel):
    """The members of `GET /status` that are used; a newer persister may send more."""

    state: str = Field(max_length=50)
    reason: str = ""
    lag: Mapping[str, int] = {}
    lagSeconds: Mapping[str, float | None] = {}  # noqa: N815 -- its name on the wire
    stored: int | None = None
    deadLetters: int | None = None  # noqa: N815 -- same
    lostOffsets: Mapping[str, int] = {}  # noqa: N815 -- same


class HttpPersisters:
    """Implements `ports.reports.persisters.Persisters`."""

    def __init__(self, trust: ssl.SSLContext | bool = True) -> None:
        """Open no connection yet; `trust`: the value of httpx's parameter `verify`."""
        self._http = httpx.Client(
            timeout=_PATIENCE_S,
            trust_env=False,
            verify=trust,
            limits=httpx.Limits(max_connections=4, max_keepalive_connections=0),
        )

    def status(self, url: str) -> PersisterAnswer:
        """Return how one is; see the port."""
        try:
            with self._http.stream("GET", f"{url}/status") as answer:
                if answer.status_code != HTTPStatus.OK:
                    raise PersisterSilent(f"it answered {answer.status_code}")
                size, pieces = 0, []
                for piece in answer.iter_bytes():
                    size += len(piece)
                    if size > _BYTES_MAX:
                        raise PersisterSilent("its answer is too large to be one of a persister")
                    pieces.append(piece)
            status = _Status.model_validate_json(b"".join(pieces))
        except (httpx.HTTPError, OSError) as error:
            raise PersisterSilent(str(error) or type(error).__name__) from error
        except ValidationError as error:
            raise PersisterSilent("its answer is none of a persister") from error
        ages = {topic: age for topic, age in status.lagSeconds.items() if age is not None}
        return PersisterAnswer(
            state=status.state,
            reason=status.reason[:1_000],
            lag=status.lag,
            lag_seconds=ages,
            stored=status.stored,
            dead_letters=status.deadLetters,
            lost=sum(status.lostOffsets.values()),
        )
