"""Settings come from three places, and what is wrong is told before anything starts."""

from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import (
    Settings,
    as_markdown,
    load_settings,
    misspelt,
    settings_table,
)
from supervisor.settings.worker_id import stable_worker_id
from tasks.contract.connection_policy import ConnectionPolicy, SecretBinding


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"TIDEGATE_{name.upper()}", raising=False)
    monkeypatch.delenv("TIDEGATE_CONFIG", raising=False)


def test_without_anything_set_all_lies_in_one_folder(tmp_path: Path) -> None:
    settings = load_settings()

    assert settings.data_dir == tmp_path / ".tidegate"
    assert settings.warehouse == tmp_path / ".tidegate/warehouse"
    assert settings.metadata_url == f"sqlite:///{tmp_path}/.tidegate/metadata.db"
    assert settings.overlords == ("http://127.0.0.1:8090",)


def test_the_command_line_counts_before_the_environment_and_that_before_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tidegate.toml").write_text('port = 1\nhost = "h"\nworker_slots = 9\n')
    monkeypatch.setenv("TIDEGATE_PORT", "2")
    monkeypatch.setenv("TIDEGATE_HOST", "::1")

    found = load_settings(port=3, host=None)

    assert (found.port, found.host, found.worker_slots) == (3, "::1", 9)


@pytest.mark.parametrize(
    ("name", "value"),
    [("log_format", "json"), ("port", "7"), ("gc_delay", "PT9S"), ("audit_retention", "PT9H")],
)
def test_each_part_of_the_settings_is_read_under_the_prefix(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """Goal: the part that a class brings in has the configuration of all others."""
    before = getattr(Settings(), name)
    monkeypatch.setenv(f"TIDEGATE_{name.upper()}", value)

    assert getattr(Settings(), name) != before


def test_the_file_may_be_elsewhere_and_its_keys_may_have_the_prefix(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my.toml").write_text(
        'TIDEGATE_LEASE_TTL = "PT6S"\noverlords = ["http://a:1", "http://b:2/"]\n'
    )
    monkeypatch.setenv("TIDEGATE_CONFIG", "my.toml")

    settings = load_settings()

    assert settings.lease_ttl == timedelta(seconds=6)
    assert settings.overlords == ("http://a:1", "http://b:2")


def test_lists_in_the_environment_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_KAFKA_ALLOW", "k1, k2:9092")

    assert load_settings().kafka_allow == ("k1", "k2:9092")


ASKING = [{"auth": "required"}, {"host": "0.0.0.0"}, {"auth": "required", "host": "::1"}]  # noqa: S104 -- refused


def test_registries_are_open_where_nobody_is_asked_unless_they_are_named() -> None:
    assert load_settings().allowed_registries() is None
    assert load_settings(registry_allow=("r",)).allowed_registries() == ("r",)


@pytest.mark.parametrize("given", ASKING)
def test_where_callers_are_asked_no_registry_is_open_but_those_named(given: dict[str, str]) -> None:
    """Goal: who may only write one table cannot have a secret sent to a host of theirs."""
    assert load_settings(**given).allowed_registries() == ()
    assert load_settings(**given, registry_allow=("r",)).allowed_registries() == ("r",)


@pytest.mark.parametrize("given", ASKING)
def test_where_callers_are_asked_brokers_must_be_named(given: dict[str, str]) -> None:
    """Goal: also on loopback, behind a proxy: what a caller may do does not hang on the address."""
    with pytest.raises(SetupProblem, match="callers are asked") as refused:
        load_settings(**given).allowed_brokers()

    assert "TIDEGATE_KAFKA_ALLOW" in refused.value.fix
    assert load_settings(**given, kafka_allow=("k",)).allowed_brokers() == ("k",)


def test_rules_for_connections_hold_the_lists_tls_and_bound_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TIDEGATE_SECRET_KAFKA", "the password")
    monkeypatch.setenv("TIDEGATE_SECRET_KAFKA_FOR", "hosts=k:9093 tables=web-*")

    rules = load_settings(kafka_allow=("k",), kafka_tls="required").connections()

    bound = {"TIDEGATE_SECRET_KAFKA": SecretBinding(("k:9093",), ("web-*",))}
    assert rules == ConnectionPolicy(("k",), None, kafka_tls=True, bindings=bound)
    assert load_settings().connections().kafka_tls is False


def test_a_binding_that_cannot_be_read_prevents_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: the secret that it should bind is sent nowhere instead of anywhere."""
    monkeypatch.setenv("TIDEGATE_SECRET_KAFKA_FOR", "k:9093")

    with pytest.raises(SetupProblem, match="where TIDEGATE_SECRET_KAFKA may be sent") as refused:
        load_settings().connections()

    assert "hosts=kafka:9093" in refused.value.fix


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TIDEGATE_KAFKA_ALLOW", value.strip())

    assert load_settings().kafka_allow is None


def test_an_unknown_key_of_the_file_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "tidegate.toml").write_text('TIDEGATE_METADTA_URL = "x"\n')

    with pytest.raises(SetupProblem, match="TIDEGATE_METADTA_URL is not a setting") as refused:
        load_settings()
    assert refused.value.fix == "did you mean metadata_url?"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("LEASE_TTL", "10", "10 is not an ISO 8601 duration"),
        ("LEASE_TTL", "PT1S", "greater than or equal to 3 seconds"),
        ("WORKER_SLOTS", "many", "valid integer"),
        ("WAREHOUSE", "s3://bucket", "must be a folder"),
        ("WAREHOUSE", "/a: b/[c]", "both a colon and one of"),
        ("DATA_DIR", "/a\nb", "line break"),
        ("JARS", "/a\udcff", "no UTF-8"),
        ("OVERLORDS", "somewhere", "'somewhere' is not an address"),
        ("WORKER_ID", "a b", "should match pattern"),
        ("SPARK_HEAP", "lots", "should match pattern"),
    ],
)
def test_a_wrong_value_is_told_by_the_variables_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"TIDEGATE_{name}", value)

    with pytest.raises(SetupProblem) as refused:
        load_settings()

    assert f"TIDEGATE_{name}" in str(refused.value)
    assert message in str(refused.value)
    assert refused.value.fix


@pytest.mark.parametrize("text", ["port = ", "port = 1\nport = 2", "\udcff"])
def test_a_broken_file_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "tidegate.toml").write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(SetupProblem, match=r"tidegate\.toml cannot be read"):
        load_settings()


def test_a_named_file_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_CONFIG", "none.toml")

    with pytest.raises(SetupProblem, match=r"none\.toml does not exist"):
        load_settings()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_loopback_every_broker_is_allowed(host: str) -> None:
    assert load_settings(host=host).allowed_brokers() is None


def test_an_advertised_address_counts() -> None:
    assert load_settings(port=1).url(8090) == "http://127.0.0.1:1"
    assert load_settings(host="::1").url(8090) == "http://[::1]:8090"
    assert load_settings(advertised_url="http://me:5/").url(8090) == "http://me:5"


def test_a_workers_name_stays_with_its_data_folder() -> None:
    first = stable_worker_id(load_settings(data_dir="one"))

    assert stable_worker_id(load_settings(data_dir="one")) == first
    assert stable_worker_id(load_settings(data_dir="two")) != first
    assert stable_worker_id(load_settings(data_dir="one", worker_id="mine")) == "mine"
    assert load_settings(worker_id=first).worker_id == first


def test_a_misspelt_variable_is_noticed_and_others_are_left_alone() -> None:
    others = ("TIDEGATE_SECRET_PORT", "TIDEGATE_DEBUG", "TIDEGATE_TEST_CACHE", "HOME")
    found = misspelt(dict.fromkeys(("TIDEGATE_WARHOUSE", *others), ""))

    assert found == {"TIDEGATE_WARHOUSE": "TIDEGATE_WAREHOUSE"}


def test_the_reference_has_every_setting_and_nothing_of_this_machine(tmp_path: Path) -> None:
    text = as_markdown(settings_table())

    assert all(f"`TIDEGATE_{name.upper()}`" in text for name in Settings.model_fields)
    assert all(row.help.endswith(".") for row in settings_table())
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text
