"""Settings of flows and executions."""

from datetime import timedelta

from pydantic import Field
from pydantic.config import JsonDict
from pydantic_settings import BaseSettings

from supervisor.core.values.field_types import LongDuration
from supervisor.settings.types import Addresses

_DURATION: JsonDict = {"unit": "ISO 8601 duration"}


class ExecutionSettings(BaseSettings):
    """Operator settings of what runs flows."""

    executions_url: str | None = Field(
        default=None,
        description="Database of flows and executions: `sqlite:///file`, or "
        "`postgresql://user@host/database`, where they have the schema `executions`.",
        json_schema_extra={"default": "executions.db beside the metadata, or its PostgreSQL"},
    )
    http_allow: Addresses = Field(
        default=(),
        description="Hosts that `http` steps of flows may call: `host`, `host:port` or `*.domain`, "
        "separated by commas.",
        json_schema_extra={"default": "this machine alone", "unit": "hosts, separated by commas"},
    )
    executions_retention: LongDuration = Field(
        default=timedelta(days=30),
        ge=timedelta(hours=1),
        description="How long an execution is kept after its end.",
        json_schema_extra=_DURATION,
    )
    executions_per_flow: int = Field(
        default=10_000,
        ge=1,
        le=1_000_000,
        description="How many ended executions of each flow are kept; older ones go earlier.",
    )
    executions_threads: int = Field(
        default=8,
        ge=1,
        le=64,
        description="How many calls of steps an overlord makes at once.",
    )
    executions_child_memory: int = Field(
        default=2 * 1024**3,
        ge=256 * 1024**2,
        description="The most memory that the process of one proof may use.",
        json_schema_extra={"unit": "bytes"},
    )
    executions_child_time: LongDuration = Field(
        default=timedelta(hours=6),
        ge=timedelta(seconds=1),
        description="How long the process of one proof may take; then it is killed.",
        json_schema_extra=_DURATION,
    )
    executions_child_files: int = Field(
        default=1024,
        ge=64,
        le=1_048_576,
        description="How many files and connections the process of one proof may have open.",
    )
    executions_kafka: str | None = Field(
        default=None,
        description="Brokers of the topics of executions, as `host:port`, separated by commas; or "
        "a file of client properties with a login. With them `tidegate executor` runs flows on "
        "Kafka; without them the overlord that leads runs them in its database.",
    )
    executions_prefix: str = Field(
        default="tidegate.executions.",
        pattern=r"^[a-z0-9.-]{0,100}$",
        description="Before the names of all topics of executions, of their group, and of the "
        "transactional ids of executors.",
    )
    executor_name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9.-]{1,100}$",
        description="Name of an executor, which no other one has.",
        json_schema_extra={"default": "of its host and port"},
    )
