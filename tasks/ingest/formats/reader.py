"""What each input format offers; `table.py` lists the formats."""

from typing import Protocol

from pyspark.sql import DataFrame

from tasks.ingest.formats.parsed import Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import KnownSchemas


class FormatReader(Protocol):
    """Reads the values, or the keys, of records by one format of a spec.  Lazy: no job is run."""

    @property
    def reasons(self) -> frozenset[RejectReason]:
        """Why a value that is there may be no record of this format."""
        ...

    def named_fields(self, *, flat: bool) -> frozenset[str]:
        """Return the fields that the format itself names: they are columns before any record.

        `flat`: without those that can hold nothing but nested values.
        """
        ...

    def parse(self, records: DataFrame, wanted: WantedFields, answers: KnownSchemas) -> Parsed:
        """Judge the form of the values in `v`; the frame gains `s`, see `Parsed`."""
        ...

    def with_key_name(self, records: DataFrame, answers: KnownSchemas) -> DataFrame:
        """Add `_name`, the text of the first field of the key in `_key`; null where it has none.

        A format with schemas adds `MISSING`, too: the numbers of those that are not known.
        """
        ...
