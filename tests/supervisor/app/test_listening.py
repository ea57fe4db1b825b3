"""How the servers of all processes listen."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fastapi import FastAPI

from supervisor.app.listening import certificate_of, new_server
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_client_gives_an_idle_connection_up_before_the_server_does() -> None:
    """Goal: no request is sent on a connection that the server is just closing."""
    kept_s = httpx.Limits().keepalive_expiry

    assert kept_s is not None
    assert new_server(FastAPI(), Settings(), {}).config.timeout_keep_alive > kept_s + 10


def test_a_chain_ends_with_its_first_certificate(tmp_path: Path) -> None:
    file = tmp_path / "chain.pem"
    file.write_bytes(_certificate("overlord", 90 * DAY) + _certificate("authority", 9 * DAY))
    settings = Settings(tls_cert=file, advertised_url="https://overlord-1.example.org:8090")

    served = certificate_of(settings)

    assert served is not None
    assert served.ends_at == NOON + 9 * DAY
    assert served.overlord == "https://overlord-1.example.org:8090"
    assert certificate_of(Settings()) is None, "plain HTTP"


def test_a_file_without_a_certificate_is_named(tmp_path: Path) -> None:
    file = tmp_path / "chain.pem"
    file.write_text("nothing")

    with pytest.raises(SetupProblem, match=r"chain\.pem cannot be read as certificates"):
        certificate_of(Settings(tls_cert=file))


def _certificate(name: str, lasts: timedelta) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
        .not_valid_before(NOON - DAY)
        .not_valid_after(NOON + lasts)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)
