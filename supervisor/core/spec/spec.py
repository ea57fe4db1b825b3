"""The checked spec of one supervisor.

`reader.read_spec` creates a spec from a document.  Its sections are in `data_schema`, `io_config`
and `tuning_config`.  A spec is stored as `model_dump(mode="json")` and loaded by `model_validate`.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from supervisor.core.spec.section import (
    OURS,
    Declaration,
    Effect,
    Fixed,
    Holder,
    Section,
    homes_of,
    inner_of,
    read_fields,
)
from supervisor.core.spec.sections.data_schema import DataSchema
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.values.field_types import Flag
from supervisor.core.values.table_names import SafeName
from tasks.contract.ingest_spec import IngestSpec


def _id_by_default(validated: dict[str, object]) -> str:
    schema = validated["data_schema"]
    assert isinstance(schema, DataSchema)
    return schema.data_source


class Sections(Section):
    """The three sections, which are inside `spec` or beside it."""

    part = "spec"
    others = MappingProxyType({"type": Fixed("kafka")})
    data_schema: Annotated[DataSchema, Effect.RESTART_TASKS]
    io_config: KafkaIoConfig
    tuning_config: Annotated[TuningConfig, Effect.RESTART_TASKS] = TuningConfig()


class SupervisorSpec(Sections):
    """The spec of one Kafka supervisor, which reads topics into one table."""

    part, title = "document", "the document"
    others = MappingProxyType({"spec": Holder(Sections)})
    type: Literal["kafka"] = "kafka"
    id: Annotated[SafeName, OURS] = Field(default_factory=_id_by_default)
    """The supervisor's id: the dataSource unless the spec names another."""
    context: Annotated[dict[str, JsonValue], Effect.HOT] = Field(default_factory=dict)
    """Entries that are stored for the user; `debug` alone has an effect."""
    suspended: Annotated[Flag, Effect.RESTART_SUPERVISOR] = False

    @property
    def data_source(self) -> str:
        """The table's name."""
        return self.data_schema.data_source

    @property
    def debug(self) -> bool:
        """Whether all reports and logs of its tasks are kept, whatever the operator's level."""
        return self.context.get("debug") is True

    def normalised(self) -> dict[str, object]:
        """Return the spec as GET answers it: with all defaults, and sections both nested and flat.

        `read_spec` of the result is this spec again.

        Source: what Druid 33.0.0 answers; `id` and the batch fields of tuningConfig are ours.
        """
        whole = super().normalised()
        spec = {name: whole[name] for name in SECTIONS}
        first = {"type": self.type, "id": self.id, "spec": spec}
        return first | whole | {"context": self.context or None}


SECTIONS: Mapping[str, Declaration] = MappingProxyType(
    {
        name: inner.models[0]
        for name, field in read_fields(Sections).items()
        if (inner := inner_of(field)) is not None
    }
)
"""The three sections, by name."""
HOMES = homes_of(SECTIONS)
"""Name of a field -> the section that reads it, for hints about misplaced fields."""


def ingest_spec(spec: SupervisorSpec, opened_at: datetime | None = None) -> IngestSpec:
    """Return the part of `spec` that a task needs to turn records into rows.

    Bounds for late and early rows count from `opened_at`, when the task's range was opened, so they
    are the same for every replica.
    """
    schema, source = spec.data_schema, spec.io_config
    fixed = source.late_message_rejection_start_date_time
    first, last = (fixed, None) if opened_at is None else source.bounds(opened_at)
    return IngestSpec(
        value_format=source.value_format,
        kafka_columns=source.kafka_columns,
        transforms=tuple(t.contract() for t in schema.transform_spec.transforms),
        filter=schema.transform_spec.filter,
        metrics=tuple(metric.contract() for metric in schema.metrics_spec),
        rollup=schema.granularity_spec.rollup,
        unfit_values=spec.tuning_config.unfit_values,
        truncation=schema.granularity_spec.truncation,
        not_before=first,
        not_after=last,
        data_source=schema.data_source,
        kafka=spec.io_config.client,
        timestamp=schema.contract_timestamp(),
        columns=schema.contract_columns(),
        typed=schema.contract_typed(),
        discovery=schema.dimensions_spec.discovery,
        excluded=schema.excluded,
        segment_granularity=schema.granularity_spec.chunks,
        topic_column=spec.io_config.topic_pattern is not None,
        tuning=spec.tuning_config.contract(),
    )


def schema_digest(spec: SupervisorSpec) -> str:
    """Return a digest, 64 hex digits, of the fields that determine rows: dataSchema, tuningConfig.

    Exports are left out, because they do not affect rows.  Fields at their default are left out, so
    that a release with a new field changes no digest.
    """
    sections = {
        "dataSchema": spec.data_schema.model_dump(
            mode="json", exclude_defaults=True, exclude={"exports"}
        ),
        "tuningConfig": spec.tuning_config.model_dump(mode="json", exclude_defaults=True),
    }
    text = json.dumps(sections, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
