"""The HTTP servers of a process: bounded, with TLS where it is set."""

import ssl
from pathlib import Path
from typing import TypedDict

import structlog
import uvicorn
from cryptography import x509
from fastapi import FastAPI

from supervisor.core.attention.certificates import EndingCertificate
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import OVERLORD_PORT, Settings
from tasks.runtime.http_guard import LOOP, guarded

__all__ = ["CONNECTIONS_MAX", "Tls", "certificate_of", "new_server", "tls_of"]

log = structlog.get_logger()

CONNECTIONS_MAX = 1_000
"""The maximum of connections and of requests of one port."""
KEEP_ALIVE_S = 30
"""How long an idle connection is kept: longer than clients keep theirs.  A server that closes first
may do it while the next request is on its way, and the client cannot know whether it was heard."""
GRACEFUL_S = 2
"""Seconds for open requests after SIGTERM; clients simply repeat a long poll."""


class Tls(TypedDict, total=False):
    """The TLS settings of uvicorn."""

    ssl_certfile: str
    ssl_keyfile: str


def tls_of(settings: Settings) -> Tls:
    """Return uvicorn's TLS settings; empty: the overlord serves plain HTTP.

    Raises:
        SetupProblem: certificate or key is missing, or they do not fit.
    """
    cert, key = settings.tls_cert, settings.tls_key
    if cert is None and key is None:
        if not settings.on_loopback:
            log.warning("no TLS: passwords, tokens and data can be read on their way")
        return {}
    if cert is None or key is None:
        raise SetupProblem(
            "TLS needs a certificate and its key", "set TIDEGATE_TLS_CERT and TIDEGATE_TLS_KEY"
        )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: b"")
    except (OSError, ssl.SSLError) as error:
        raise SetupProblem(
            f"{cert} and {key} cannot be used for TLS: {error}",
            "name a certificate with its chain, and its key without a password, both as PEM",
        ) from error
    return {"ssl_certfile": str(cert), "ssl_keyfile": str(key)}


def certificate_of(settings: Settings) -> EndingCertificate | None:
    """Return when the certificate of an overlord ends; None: it serves plain HTTP.

    Each certificate of the file counts, since a client refuses a chain of which one has ended.

    Raises:
        SetupProblem: the file cannot be read as certificates.
    """
    if settings.tls_cert is None:
        return None
    try:
        chain = x509.load_pem_x509_certificates(Path(settings.tls_cert).read_bytes())
    except (OSError, ValueError) as error:
        raise SetupProblem(
            f"{settings.tls_cert} cannot be read as certificates: {error}",
            "name a certificate with its chain, as PEM",
        ) from error
    ends_at = min(each.not_valid_after_utc for each in chain)
    return EndingCertificate(settings.url(OVERLORD_PORT), ends_at)


def new_server(api: FastAPI, settings: Settings, tls: Tls) -> uvicorn.Server:
    """Return the server of one port, with connections of its own."""
    config = uvicorn.Config(
        api,
        log_config=None,
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACEFUL_S,
        http=guarded(CONNECTIONS_MAX, settings.connections_per_address),
        loop=LOOP,
        ws="none",
        proxy_headers=False,  # else a caller on this machine could claim any address
        **tls,
    )
    return uvicorn.Server(config)
