"""Secrets in the environment, and in files that the environment names."""

from pathlib import Path

import pytest

from supervisor.adapters.secrets import read_secret
from supervisor.core.values.errors import SecretMissing
from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, SecurityProtocol
from tasks.runtime.secrets import BYTES_MAX, Connections, NoSecret, secret_text

ONE = SecretRef(environment="TIDEGATE_SECRET_ONE")
FILE = "TIDEGATE_SECRET_ONE_FILE"


def test_a_file_that_the_environment_names_holds_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = tmp_path / "mounted"
    held.write_text("two\nlines\n")
    monkeypatch.setenv(FILE, str(held))

    assert secret_text(ONE) == "two\nlines"
    held.write_text("rotated\r\n")
    assert secret_text(ONE) == "rotated"


def test_the_variable_itself_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILE, str(tmp_path / "not there"))
    monkeypatch.setenv("TIDEGATE_SECRET_ONE", "s3cret")

    assert secret_text(ONE) == "s3cret"


@pytest.mark.parametrize("held", [b"", b"\n", b"\xff\xfe", b"x" * (BYTES_MAX + 1)])
def test_a_file_that_is_no_secret_is_told_and_not_shown(
    held: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mounted"
    path.write_bytes(held)
    monkeypatch.setenv(FILE, str(path))

    with pytest.raises(NoSecret, match=f"{FILE} names {path}") as caught:
        secret_text(ONE)

    assert "xxx" not in str(caught.value)


def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILE, str(tmp_path / "absent"))

    with pytest.raises(SecretMissing, match="No such file"):
        read_secret(ONE)


def test_neither_says_both_names() -> None:
    with pytest.raises(SecretMissing, match=f"neither TIDEGATE_SECRET_ONE nor {FILE}"):
        read_secret(ONE)


def test_a_spec_cannot_have_the_path_sent_as_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILE, "/run/secrets/one")

    with pytest.raises(NoSecret, match="refer to TIDEGATE_SECRET_ONE"):
        secret_text(SecretRef(environment=FILE))


def _client() -> KafkaClient:
    return KafkaClient(
        bootstrap_servers="127.0.0.1:9092",
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl_mechanism=SaslMechanism.PLAIN,
        sasl_username="ann",
        sasl_password=ONE,
    )


def test_a_changed_secret_makes_a_new_connection_and_an_unreadable_one_keeps_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a password is changed in its file, and nothing is restarted."""
    held = tmp_path / "mounted"
    monkeypatch.setenv(FILE, str(held))
    secrets_used: list[str] = []

    def connect(_: KafkaClient) -> int:
        secrets_used.append(read_secret(ONE))
        return len(secrets_used)

    connections = Connections(read_secret, connect, missing=SecretMissing)
    with pytest.raises(SecretMissing):
        connections.get(_client())
    held.write_text("first")
    assert [connections.get(_client()) for _ in range(2)] == [1, 1]
    held.unlink()
    assert connections.get(_client()) == 1
    held.write_text("second")
    assert [connections.get(_client()) for _ in range(2)] == [2, 2]

    assert secrets_used == ["first", "second"]


def test_where_a_secret_may_be_sent_is_no_secret_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_SECRET_ONE_FOR", "hosts=kafka:9093")

    with pytest.raises(NoSecret, match="refer to TIDEGATE_SECRET_ONE"):
        secret_text(SecretRef(environment="TIDEGATE_SECRET_ONE_FOR"))
