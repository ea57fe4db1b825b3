"""The tables of what old publications keep, in compact form, for `verify`."""

from sqlalchemy import BigInteger, Column, ForeignKey, Table

from supervisor.database.column_types import NAME
from supervisor.metadata.schema.column_types import DOCUMENT, METADATA

dropped_files = Table(
    "dropped_files",
    METADATA,
    Column("generation_id", NAME, ForeignKey("publications.generation_id"), primary_key=True),
    Column("data_source", NAME, primary_key=True, comment="the table, or its errors table"),
    Column("files", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("spans", DOCUMENT, nullable=False),
)
"""What the deleted files of a publication held, once their own rows are gone."""

folded_rejects = Table(
    "folded_rejects",
    METADATA,
    Column("path", NAME, primary_key=True),
    Column(
        "generation_id",
        NAME,
        ForeignKey("publications.generation_id"),
        nullable=False,
        index=True,
    ),
    Column("file", DOCUMENT, nullable=False),
)
"""Rejects files of ranges that were folded into a publication."""
