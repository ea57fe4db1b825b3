"""The settings of all processes as data: name, default, unit, help; read once, at the start.

    command line ─► environment (TIDEGATE_*) ─► tidegate.toml ─► defaults      the first one counts

The file is `tidegate.toml` in the working folder, or the file that TIDEGATE_CONFIG names.  Its keys
are the names of this module's fields (`data_dir = "/srv/tidegate"`), with or without the prefix.
`python -m supervisor.settings` writes the reference page.
"""

import ipaddress
import os
import socket
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from supervisor.core.values.field_types import LongDuration, format_duration, nearest
from supervisor.settings.access import PREFIX, TOKEN, AccessSettings
from supervisor.settings.executions import ExecutionSettings
from supervisor.settings.log import LogSettings
from supervisor.settings.problems import SetupProblem
from supervisor.settings.reports import REPORTS_KEY, ReportSettings
from supervisor.settings.secret_bindings import SECRET, secret_bindings
from supervisor.settings.types import Addresses, Folder, TableFolder, http_url, http_urls
from supervisor.settings.upkeep import UpkeepSettings
from tasks.contract.connection_policy import ConnectionPolicy

OVERLORD_PORT = 8090
WORKER_PORT = 8091
PERSISTER_PORT = 8092
EXECUTOR_PORT = 8093
CONFIG_FILE = "tidegate.toml"

_OTHER_NAMES = frozenset(
    {
        "TIDEGATE_CONFIG",
        "TIDEGATE_DEBUG",
        "TIDEGATE_FAILPOINTS",
        "TIDEGATE_PROFILE",
        TOKEN,
        REPORTS_KEY,
    }
)
_TESTS = "TIDEGATE_TEST_"
"""Prefix of variables that only tests read."""


def _unit(text: str) -> JsonDict:
    return {"unit": text}


def _shown_as(default: str, unit: str = "") -> JsonDict:
    return {"default": default, "unit": unit}


class Settings(LogSettings, UpkeepSettings, ReportSettings, ExecutionSettings, AccessSettings):
    """All operator settings; one instance per process, never changed."""

    data_dir: Folder = Field(
        default=Path(".tidegate"),
        validate_default=True,
        description="Folder of a process for what must outlive it: journals, jars, SQLite.",
        json_schema_extra=_shown_as("./.tidegate", "folder"),
    )
    metadata_url: str = Field(
        default_factory=lambda known: f"sqlite:///{known['data_dir']}/metadata.db",
        description="SQLAlchemy URL of the metadata database: SQLite or PostgreSQL.",
        json_schema_extra=_shown_as("sqlite:///<data dir>/metadata.db", "URL"),
    )
    warehouse: TableFolder = Field(
        default_factory=lambda known: known["data_dir"] / "warehouse",
        description="Folder of the tables; every process sees it under the same path.",
        json_schema_extra=_shown_as("<data dir>/warehouse", "folder"),
    )
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address that overlord or worker listens on.",
    )
    port: int | None = Field(
        default=None,
        ge=1,
        le=65_535,
        description="Port that overlord or worker listens on.",
        json_schema_extra=_shown_as(f"{OVERLORD_PORT} overlord, {WORKER_PORT} worker"),
    )
    advertised_url: Annotated[str, AfterValidator(http_url)] | None = Field(
        default=None,
        description="Address at which others reach this process.",
        json_schema_extra=_shown_as("from host and port", "URL"),
    )
    overlords: Annotated[Addresses, AfterValidator(http_urls)] = Field(
        default=(f"http://127.0.0.1:{OVERLORD_PORT}",),
        min_length=1,
        description="Overlords that workers and the command line talk to.",
        json_schema_extra=_unit("URLs, separated by commas"),
    )
    worker_id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="Name of a worker, the same at every start; two workers never share one.",
        json_schema_extra=_shown_as("worker-<host name>, kept in <data dir>/worker-id"),
    )
    worker_slots: int = Field(
        default=4,
        ge=1,
        le=1_000,
        description="Tasks that may read at once in one worker.",
        json_schema_extra=_unit("tasks"),
    )
    worker_timeout: LongDuration = Field(
        default=timedelta(seconds=30),
        description="A worker that has not synced for so long is lost, and its tasks replaced.",
        json_schema_extra=_unit("ISO 8601 duration"),
    )
    spark_master: str = Field(
        default="local[*]", min_length=1, description="Where a worker's Spark application runs."
    )
    spark_heap: str = Field(
        default="768m",
        pattern=r"^[1-9][0-9]{0,5}[mMgG]$",
        description="Heap of a worker's JVM, such as 768m or 2g.",
        json_schema_extra=_unit("size"),
    )
    java: str = Field(
        default="auto",
        min_length=1,
        description="auto (JAVA_HOME or PATH, else bundled), bundled, or the path of a Java.",
    )
    jars: Folder | None = Field(
        default=None,
        description="Folder that has the jars already; then nothing is fetched.",
        json_schema_extra=_shown_as("none: fetched once into <data dir>/jars", "folder"),
    )
    kafka_allow: Addresses | None = Field(
        default=None,
        description="Brokers that specs may name: host (any port) or host:port.  "
        "Required where callers are asked who they are: see TIDEGATE_AUTH.",
        json_schema_extra=_shown_as("any, if nobody is asked", "host[:port], separated by commas"),
    )
    registry_allow: Addresses | None = Field(
        default=None,
        description="Schema registries that specs may name: host (any port) or host:port.",
        json_schema_extra=_shown_as("any, if nobody is asked; else none", "host[:port], by commas"),
    )
    kafka_tls: Literal["optional", "required"] = Field(
        default="optional",
        description="required: specs connect to brokers by TLS only (SSL, SASL_SSL).",
    )
    worker_allow: Addresses | None = Field(
        default=None,
        description="Hosts at which workers may be: the overlord calls no other addresses.",
        json_schema_extra=_shown_as("any", "host[:port], separated by commas"),
    )
    connections_per_address: int = Field(
        default=250,
        ge=1,
        description="Connections that overlord or worker serve of one address; behind a proxy all "
        "callers share one.",
        json_schema_extra=_unit("connections"),
    )
    supervisor_period: LongDuration = Field(
        default=timedelta(seconds=30),
        description="A supervisor is looked at no later than this after the last time.",
        json_schema_extra=_unit("ISO 8601 duration"),
    )
    lease_ttl: LongDuration = Field(
        default=timedelta(seconds=8),
        ge=timedelta(seconds=3),
        description="Another overlord takes over when the leader was silent for so long.",
        json_schema_extra=_unit("ISO 8601 duration"),
    )
    pause_timeout: LongDuration = Field(
        default=timedelta(seconds=20),
        description="A replica that does not pause for a handoff within this is replaced.",
        json_schema_extra=_unit("ISO 8601 duration"),
    )
    pause_lease: LongDuration = Field(
        default=timedelta(seconds=60),
        description="A paused replica that hears nothing for so long reads on by itself.",
        json_schema_extra=_unit("ISO 8601 duration"),
    )
    progress_timeout: LongDuration = Field(
        default=timedelta(minutes=5),
        description="A reading task that could go on, and does not for so long, is replaced; its "
        "worker cancels a batch that stands still after 0.6 of it.",
        json_schema_extra=_unit("ISO 8601 duration"),
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 -- a .env is not ours to read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 -- same
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings in the order of their precedence."""
        file = InitSettingsSource(settings_cls, _from_file(os.environ))
        return init_settings, env_settings, file

    @property
    def requires_login(self) -> bool:
        """Whether an overlord authenticates its callers."""
        return self.auth == "required" or not self.on_loopback

    @property
    def on_loopback(self) -> bool:
        """Whether `host` is a loopback address, which only this machine reaches."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def allowed_brokers(self) -> tuple[str, ...] | None:
        """Return the broker hosts that specs may name; None allows all.

        Raises:
            SetupProblem: callers are authenticated, and the setting names no brokers.
        """
        if self.kafka_allow is None and self.requires_login:
            why = "TIDEGATE_AUTH=required" if self.on_loopback else f"TIDEGATE_HOST={self.host}"
            raise SetupProblem(
                f"with {why} callers are asked who they are, and whoever may write one table could "
                "have any secret sent to any host",
                "set TIDEGATE_KAFKA_ALLOW to the brokers that specs may name, as host or host:port",
            )
        return self.kafka_allow

    def allowed_registries(self) -> tuple[str, ...] | None:
        """Return the schema registries that specs may name.

        None allows all; this is only possible if callers are not authenticated.
        """
        return (self.registry_allow or ()) if self.requires_login else self.registry_allow

    def connections(self) -> ConnectionPolicy:
        """Return the operator's rules for the connections of specs.

        Raises:
            SetupProblem: as `allowed_brokers`, or the binding of a secret cannot be read.
        """
        return ConnectionPolicy(
            kafka_allow=self.allowed_brokers(),
            registry_allow=self.allowed_registries(),
            kafka_tls=self.kafka_tls == "required",
            bindings=secret_bindings(os.environ),
        )

    def url(self, default_port: int) -> str:
        """Return the URL at which others reach this process: the advertised URL, if one is set."""
        if self.advertised_url is not None:
            return self.advertised_url
        everywhere = self.host in {"0.0.0.0", "::"}  # noqa: S104 -- a comparison
        host = socket.gethostname() if everywhere else self.host
        scheme = "http" if self.tls_cert is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port or default_port}"


def load_settings(**given: object) -> Settings:
    """Read the settings; `given` comes from the command line, None means "not given".

    Raises:
        SetupProblem: a value is wrong, or the file has a key that no setting has.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**chosen)  # type: ignore[arg-type]  # pydantic checks it
    except ValidationError as error:
        raise _as_problem(error) from None


def misspelt(environment: Mapping[str, str]) -> dict[str, str]:
    """Return misspelt variables -> the setting that was probably meant."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    unknown = (
        {
            name
            for name in environment
            if name.startswith(PREFIX) and not name.startswith((SECRET, _TESTS))
        }
        - known
        - _OTHER_NAMES
    )
    near = {name: _very_near(name, known) for name in sorted(unknown)}
    return {name: meant for name, meant in near.items() if meant is not None}


@dataclass(frozen=True)
class SettingRow:
    """One setting as a row of the reference page."""

    name: str
    default: str
    unit: str
    help: str


def settings_table() -> tuple[SettingRow, ...]:
    """Return every setting, in the order of the reference."""
    fields = Settings.model_fields
    names = sorted(fields, key=AccessSettings.model_fields.__contains__)  # these last
    return tuple(_row(name, fields[name]) for name in names)


def as_markdown(rows: Iterable[SettingRow]) -> str:
    """Return the settings as a Markdown table."""
    head = "| name | default | unit | what it does |\n|---|---|---|---|\n"
    lines = (f"| `{r.name}` | {_code(r.default)} | {r.unit} | {r.help} |\n" for r in rows)
    return head + "".join(line.replace("[*]", "[\\*]") for line in lines)


def _code(default: str) -> str:
    return default if " " in default and "/" not in default else f"`{default}`"


def _row(name: str, field: FieldInfo) -> SettingRow:
    extra = field.json_schema_extra
    shown = extra if isinstance(extra, dict) else {}
    return SettingRow(
        name=f"{PREFIX}{name.upper()}",
        default=str(shown.get("default") or _as_text(field.default)),
        unit=str(shown.get("unit", "")),
        help=" ".join((field.description or "").split()),
    )


def _as_text(default: object) -> str:
    if isinstance(default, timedelta):
        return format_duration(default)
    return ",".join(default) if isinstance(default, tuple) else str(default)


def _from_file(environment: Mapping[str, str]) -> dict[str, object]:
    named = environment.get("TIDEGATE_CONFIG")
    path = Path(named or CONFIG_FILE)
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if named is None:
            return {}
        raise SetupProblem(f"{path} does not exist", "correct or unset TIDEGATE_CONFIG") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SetupProblem(f"{path} cannot be read: {error}", "it must be a TOML file") from error
    return {_known_key(key, path): value for key, value in read.items()}


def _known_key(key: str, path: Path) -> str:
    name = key.lower().removeprefix(PREFIX.lower())
    if name in Settings.model_fields:
        return name
    if key.upper().startswith(SECRET):
        fix = "set secrets in the environment: they are not settings"
    elif (meant := nearest(name, Settings.model_fields)) is not None:
        fix = f"did you mean {meant}?"
    else:
        fix = f"known are: {', '.join(Settings.model_fields)}"
    raise SetupProblem(f"{path}: {key} is not a setting", fix)


def _very_near(name: str, known: Iterable[str]) -> str | None:
    # Compare without the common prefix, which would make all names look alike.
    meant = nearest(name.removeprefix(PREFIX), [k.removeprefix(PREFIX) for k in known])
    return None if meant is None else f"{PREFIX}{meant}"


def _as_problem(error: ValidationError) -> SetupProblem:
    first = error.errors(include_url=False)[0]
    name = f"{PREFIX}{str(first['loc'][0]).upper()}" if first["loc"] else "settings"
    context = first.get("ctx", {})
    message = str(context.get("message") or first["msg"])
    if first["type"] == "extra_forbidden":
        message = "is not a setting"
    hint = str(context.get("hint") or "see `python -m supervisor.settings`")
    shown = "" if first["type"] == "extra_forbidden" else f" ({str(first['input'])[:100]!r})"
    return SetupProblem(f"{name}{shown}: {message}", hint)
