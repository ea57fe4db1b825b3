"""Files of Kafka client properties: what they may say, and how what is wrong with one is named."""

from pathlib import Path

import pytest

from supervisor.app.brokers import execution_brokers, report_brokers
from supervisor.app.executions.executor import executing
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings

LOGIN = """
# of all clients
bootstrap.servers = kafka-1:9092,\\
    kafka-2:9092
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.username=ann
sasl.password=${env:TIDEGATE_SECRET_REPORTS}
ssl.ca.pem=-----BEGIN CERTIFICATE-----\\nMII=\\n-----END CERTIFICATE-----
fetch.min.bytes=7
"""
JAAS = (
    "bootstrap.servers=kafka:9092\nsecurity.protocol=SASL_PLAINTEXT\n"
    "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="ann" password="${env:TIDEGATE_SECRET_REPORTS}";\n'
)


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_SECRET_REPORTS", "a canary")


def _read(tmp_path: Path, text: str) -> dict[str, str] | None:
    file = tmp_path / "client.properties"
    file.write_text(text)
    return report_brokers(Settings(reports_kafka=str(file)))


def test_addresses_are_taken_as_they_are() -> None:
    assert report_brokers(Settings()) is None
    for given in ("kafka:9092", "kafka-1:9092, kafka-2:9093", "[::1]:9092"):
        assert report_brokers(Settings(reports_kafka=given)) == {"bootstrap.servers": given}


def test_a_file_says_where_and_as_whom_with_secrets_by_reference(tmp_path: Path) -> None:
    assert _read(tmp_path, LOGIN) == {
        "bootstrap.servers": "kafka-1:9092,kafka-2:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "ann",
        "sasl.password": "a canary",
        "ssl.ca.pem": "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----",
    }


def test_executions_take_the_same_file(tmp_path: Path) -> None:
    reports = _read(tmp_path, LOGIN)
    file = tmp_path / "client.properties"
    assert execution_brokers(Settings(executions_kafka=str(file))) == reports
    assert execution_brokers(Settings()) is None
    given = "kafka-1:9092, kafka-2:9093"
    assert execution_brokers(Settings(executions_kafka=given)) == {"bootstrap.servers": given}


@pytest.mark.parametrize(
    "line",
    [
        "enable.auto.commit=false",
        "enable.auto.offset.store=false",
        "auto.offset.reset=latest",
        "group.id=stolen",
        "transactional.id=stolen",
        "transaction.timeout.ms=1",
        "enable.idempotence=false",
        "isolation.level=read_uncommitted",
        "partition.assignment.strategy=range",
        "acks=1",
        "compression.type=gzip",
    ],
)
def test_what_the_product_sets_itself_is_refused_by_name(tmp_path: Path, line: str) -> None:
    """Goal: an executor does not start, and says which line has to go."""
    file = tmp_path / "client.properties"
    file.write_text(f"{LOGIN}{line}\n")
    settings = Settings(executions_kafka=str(file), data_dir=tmp_path)
    with pytest.raises(SetupProblem) as problem, executing(settings):
        pass

    name = line.partition("=")[0]
    assert name in str(problem.value)
    assert "TIDEGATE_EXECUTIONS_KAFKA" in str(problem.value)
    assert "spec" not in f"{problem.value} {problem.value.fix}".replace(str(tmp_path), "")
    assert "canary" not in f"{problem.value} {problem.value.fix}".replace(str(tmp_path), "")


def test_a_line_of_jaas_is_read_in_its_one_form(tmp_path: Path) -> None:
    properties = _read(tmp_path, JAAS)
    assert properties is not None
    assert properties["sasl.mechanism"] == "PLAIN"
    assert (properties["sasl.username"], properties["sasl.password"]) == ("ann", "a canary")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (LOGIN.replace("${env:TIDEGATE_SECRET_REPORTS}", "canary"), "sasl.password"),
        (LOGIN.replace("TIDEGATE_SECRET_REPORTS", "HOME"), "TIDEGATE_SECRET_"),
        (LOGIN.replace("SECRET_REPORTS", "SECRET_NONE"), "TIDEGATE_SECRET_NONE"),
        (LOGIN + "sasl.username=bob\n", "given twice"),
        (LOGIN + "plugin.library.paths=/tmp/canary\n", "plugin.library.paths"),
        ("security.protocol=PLAINTEXT\n", "bootstrap.servers"),
        ("canary\n", "no name=value"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do_and_without_a_value(
    tmp_path: Path, text: str, what: str
) -> None:
    with pytest.raises(SetupProblem) as problem:
        _read(tmp_path, text)

    shown = f"{problem.value} {problem.value.fix}"
    assert what in shown
    assert "TIDEGATE_REPORTS_KAFKA" in shown
    assert problem.value.fix
    assert "canary" not in shown.replace(str(tmp_path), "")


def test_neither_brokers_nor_a_file_is_said_with_both_ways() -> None:
    for given in ("kafka", "/nowhere/client.properties", "/"):
        with pytest.raises(SetupProblem, match="cannot be read"):
            report_brokers(Settings(reports_kafka=given))
