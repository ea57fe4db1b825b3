"""The JSON text of Protobuf messages: what is no message of its type has none."""

from pyspark.sql import DataFrame

from tasks.contract.messages import FailureCode
from tasks.ingest.formats.protobuf_function import protobuf_function
from tasks.ingest.formats.schemas import KnownSchemas
from tasks.ports import TaskError
from tasks.rows.schemas.protobuf import Messages, ProtobufSchemaError


def protobuf_as_json(frame: DataFrame, known: KnownSchemas) -> DataFrame:
    """Add `_j` to a frame that has `_id`, see `parse_binary.as_json`.

    Raises:
        TaskError: Java's library does not take what was read and checked.
    """
    session = frame.sparkSession
    try:
        cases = " ".join(
            f"WHEN _id = {number} THEN {protobuf_function(session, messages)}(v)"
            for number, messages in known.schemas.items()
            if isinstance(messages, Messages)
        )
    except ProtobufSchemaError as error:
        raise TaskError(FailureCode.REFUSED, f"a schema of Protobuf: {error}") from error
    return frame.selectExpr(
        "*", f"CASE {cases} END AS _j" if cases else "CAST(NULL AS STRING) AS _j"
    )
