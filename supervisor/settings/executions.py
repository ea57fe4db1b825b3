"""Settings of flows and executions."""

from pydantic import Field
from pydantic_settings import BaseSettings


class ExecutionSettings(BaseSettings):
    """Operator settings of what runs flows."""

    executions_url: str | None = Field(
        default=None,
        description="Database of flows and executions: `sqlite:///file`, or "
        "`postgresql://user@host/database`, where they have the schema `executions`.",
        json_schema_extra={"default": "executions.db beside the metadata, or its PostgreSQL"},
    )
    executions_threads: int = Field(
        default=8,
        ge=1,
        le=64,
        description="How many calls of steps an overlord makes at once.",
    )
