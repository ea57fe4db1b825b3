"""The tables of known fields name what the spec's models read, and nothing else."""

import pytest
from pydantic import BaseModel

from supervisor.core import spec_decoders as decoders
from supervisor.core import spec_formats as formats
from supervisor.core import spec_metrics as metrics
from supervisor.core import spec_tables as tables
from supervisor.core.spec import SupervisorSpec
from supervisor.core.spec_data import DataSchema, Dimension, DimensionsSpec, TimestampField
from supervisor.core.spec_granularity import GranularitySpec
from supervisor.core.spec_io import KafkaIoConfig
from supervisor.core.spec_transforms import TransformField, TransformSpec
from supervisor.core.spec_tuning import TuningConfig

_OF_DATA = [
    (tables.DATA_SCHEMA, DataSchema),
    (tables.TIMESTAMP, TimestampField),
    (tables.DIMENSIONS, DimensionsSpec),
    (tables.TEXT_DIMENSION, Dimension),
    (tables.NUMBER_DIMENSION, Dimension),
    (tables.GRANULARITY, GranularitySpec),
    (tables.TRANSFORMS, TransformSpec),
    (tables.TRANSFORM, TransformField),
    (tables.COUNT_METRIC, metrics.CountAggregator),
    (tables.NUMBER_METRIC, metrics.NumberAggregator),
    (tables.TEXT_METRIC, metrics.TextAggregator),
    (tables.SKETCH_METRIC, metrics.SketchAggregator),
    (tables.FILTERED_METRIC, metrics.FilteredAggregator),
]
_OF_FORMATS = [
    (tables.JSON_FORMAT, formats.JsonInputFormat),
    (tables.FLATTEN, formats.FlattenSpec),
    (tables.FLATTEN_FIELD, formats.FlattenField),
    (tables.CSV_FORMAT, formats.CsvInputFormat),
    (tables.TSV_FORMAT, formats.TsvInputFormat),
    (tables.REGEX_FORMAT, formats.RegexInputFormat),
    (tables.AVRO_FORMAT, formats.AvroInputFormat),
    (tables.AVRO_DECODERS["schema_inline"], decoders.OneSchemaDecoder),
    (tables.AVRO_DECODERS["multiple_schemas_inline"], decoders.ManySchemasDecoder),
    (tables.AVRO_DECODERS["schema_registry"], decoders.RegistryDecoder),
    (tables.KAFKA_FORMAT, formats.KafkaInputFormat),
]
_OF_READING = [(tables.IO_CONFIG, KafkaIoConfig), (tables.TUNING, TuningConfig)]


def _name_of(one: object) -> str:
    """Name a test by its model: a table's own text differs from process to process."""
    return one.__name__ if isinstance(one, type) else "table"


@pytest.mark.parametrize(("table", "model"), _OF_DATA + _OF_FORMATS + _OF_READING, ids=_name_of)
def test_what_a_table_keeps_is_what_its_model_reads(
    table: tables.Table, model: type[BaseModel]
) -> None:
    read = {field.alias or name for name, field in model.model_fields.items()}
    fixed = {name for name in read if name in table.fixed}
    told = read - fixed - ({"delimiter"} if model is formats.CsvInputFormat else set())
    assert table.kept == told


def test_the_document_has_the_sections_of_the_spec() -> None:
    read = {field.alias or name for name, field in SupervisorSpec.model_fields.items()}
    assert tables.ENVELOPE.kept == read | {"spec"}


def test_no_field_is_in_two_parts_of_a_table() -> None:
    for table, _ in _OF_DATA + _OF_FORMATS + _OF_READING:
        assert len(table.known) == len(set(table.known))
