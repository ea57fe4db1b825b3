"""Settings of flows and executions."""

from pydantic import Field
from pydantic_settings import BaseSettings

from supervisor.settings.types import Addresses


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
    executions_threads: int = Field(
        default=8,
        ge=1,
        le=64,
        description="How many calls of steps an overlord makes at once.",
    )
