"""The interface of each input format; `table.py` lists the formats."""

from typing import Protocol

from pyspark.sql import DataFrame

from tasks.ingest.formats.parsed import Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import KnownSchemas


class FormatReader(Protocol):
    """Reads the values or keys of records in one format of a spec.  Lazy: no job is run."""

    @property
    def reasons(self) -> frozenset[RejectReason]:
        """The reasons why a present value may be no record of this format."""
        ...

    def named_fields(self, *, flat: bool) -> frozenset[str]:
        """Return the fields that the format itself names, which are columns before any record.

        `flat`: leave out fields that can only hold nested values.
        """
        ...

    def parse(self, records: DataFrame, wanted: WantedFields, answers: KnownSchemas) -> Parsed:
        """Judge the form of the values in `v`; the frame gains `s`, see `Parsed`."""
        ...

    def with_key_name(self, records: DataFrame, answers: KnownSchemas) -> DataFrame:
        """Add `_name`, the text of the first field of the key in `_key`; null if there is none.

        A format with schemas also adds `MISSING`, the numbers of unknown schemas.
        """
        ...
