"""Conversion of Protobuf messages to JSON text; invalid bytes have none."""

from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import ProtobufFormat
from tasks.contract.messages import FailureCode
from tasks.ingest.formats.binary import BinaryReader
from tasks.ingest.formats.json import named_in
from tasks.ingest.formats.protobuf_function import protobuf_function
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import KnownSchemas, framed
from tasks.ports import TaskError
from tasks.rows.schemas.protobuf import Messages, ProtobufSchemaError


def protobuf_reader(spec: ProtobufFormat) -> BinaryReader:
    """Return the reader of Protobuf.

    Zero bytes are a message without a set field, unless a schema's number has to precede it.
    """
    return BinaryReader(
        spec,
        _decode,
        lambda _: named_in(spec.fields),
        RejectReason.NOT_PROTOBUF,
        may_be_empty=framed(spec) is None,
        lists=False,
    )


def _decode(frame: DataFrame, known: KnownSchemas, _: str) -> DataFrame:
    """Add `_j`; the path to the message's type precedes its bytes, so the whole value is decoded.

    Raises:
        TaskError: Java's library refuses a schema that was parsed and checked.
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
