"""Settings of reports and logs that outlive their worker: where they go, and at what pace."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict
from pydantic_settings import BaseSettings

from supervisor.core.values.field_types import LongDuration
from supervisor.settings.types import Addresses, http_urls

_PER_SECOND: JsonDict = {"unit": "per second"}


class ReportSettings(BaseSettings):
    """Operator settings of what workers send, and of the persister that stores it."""

    reports: Literal["auto", "kafka", "off"] = Field(
        default="auto",
        description="How workers send reports and logs: `auto` is `kafka` where "
        "`TIDEGATE_REPORTS_KAFKA` is set, else `off`.",
    )
    reports_persister: Annotated[Addresses, AfterValidator(http_urls)] = Field(
        default=(),
        description="Addresses of the persisters, as processes reach them.",
        json_schema_extra={"default": "none", "unit": "URLs, separated by commas"},
    )
    reports_topic: str = Field(
        default="default",
        pattern=r"^[a-z0-9-]{1,100}$",
        description="The topic of a worker's reports: `completed.` and this name.",
    )

    reports_url: str | None = Field(
        default=None,
        description="Database of reports: `sqlite:///file`, or `postgresql://user@host/database`, "
        "where they have the schema `reports`.",
        json_schema_extra={"default": "reports.db beside the metadata, or its PostgreSQL"},
    )
    reports_logs: Literal["segments", "sql"] = Field(
        default="segments",
        description="Where logs are stored: in files below the warehouse, or in the database.",
    )
    reports_kafka: str | None = Field(
        default=None,
        description="Brokers of the topics of reports, as `host:port`, separated by commas. "
        "Without it workers send nothing, and a persister takes reports by HTTP alone.",
    )
    reports_prefix: str = Field(
        default="",
        pattern=r"^[a-z0-9.-]{0,100}$",
        description="Before the names of all topics of reports, and of their group.",
    )
    reports_instance: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9.-]{1,100}$",
        description="Name of a persister, which no other one has: it keeps its partitions when it "
        "is back in time.",
        json_schema_extra={"default": "of its host and port"},
    )
    reports_retention: LongDuration = Field(
        default=timedelta(days=30),
        ge=timedelta(hours=1),
        description="The age at which stored reports and logs are deleted.",
        json_schema_extra={"unit": "ISO 8601 duration"},
    )
    reports_writers: int = Field(
        default=4, ge=1, le=64, description="Batches that a persister stores at once."
    )
    reports_rate: float | None = Field(
        default=None,
        gt=0,
        description="The most records that a persister stores; with n of them a share each.",
        json_schema_extra=_PER_SECOND,
    )
    reports_rate_bytes: float | None = Field(
        default=None,
        gt=0,
        description="The most bytes of records that a persister stores.",
        json_schema_extra=_PER_SECOND,
    )
