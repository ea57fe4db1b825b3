"""Portable column types, the same on SQLite and PostgreSQL: a read returns what was written."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from pydantic import JsonValue
from sqlalchemy import JSON, BigInteger, Dialect, Integer, MetaData, String, TypeDecorator
from sqlalchemy.types import TypeEngine

from supervisor.core.values.errors import UnknownWord
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.runtime.secrets import without_secrets

Word = TypeVar("Word", bound=StrEnum)
_Impl: TypeAlias = TypeEngine[Any] | type[TypeEngine[Any]]


class OneOf(TypeDecorator[Word]):
    """A word of a closed set, stored as its value; a new word needs no new schema."""

    impl: _Impl = String
    cache_ok: bool | None = True

    def __init__(self, words: type[Word], otherwise: Word | None = None) -> None:
        """Read `otherwise`, if given, in the place of a word that a newer release wrote."""
        super().__init__()
        self.words = words
        self._otherwise = otherwise

    def process_bind_param(self, value: Word | None, _dialect: Dialect) -> str | None:
        """Write the value: psycopg would write an enum's name."""
        return None if value is None else str(value.value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Word | None:
        """Read the value.

        Raises:
            UnknownWord: a newer release wrote the word, and there is no `otherwise`.
        """
        if value is None:
            return None
        try:
            return self.words(value)
        except ValueError as error:
            if self._otherwise is not None:
                return self._otherwise
            raise UnknownWord(unknown(self.words, value)) from error


class AnyOf(TypeDecorator[str]):
    """A word of a closed set, stored as its value and read as plain text: see `known`."""

    impl: _Impl = String
    cache_ok: bool | None = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        """Write the value: psycopg would write an enum's name."""
        return None if value is None else str(value)


def known(words: type[Word], value: str) -> Word | None:
    """Return the enum member of a stored word; None: a newer release wrote the word."""
    return words(value) if value in {*words} else None


def unknown(words: type[StrEnum], value: str) -> str:
    """Return the message about a stored word that this release does not know."""
    return (
        f"the metadata database holds {value!r} as {words.__name__}, which this release does not "
        "know: a newer one wrote it"
    )


class FreeText(TypeDecorator[str]):
    """Text from outside; characters that a database cannot hold are replaced.

    These are NUL and lone surrogates.
    """

    impl: _Impl = String
    cache_ok: bool | None = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        """Replace NUL, which PostgreSQL refuses, and lone surrogates, which both refuse."""
        if value is None:
            return None
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


class MaskedText(FreeText):
    """Text for people that may quote a library or a worker, with its secrets masked.

    Secrets are masked on reading too, because an earlier version stored them unmasked.
    """

    cache_ok: bool | None = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Mask known secrets, and values whose names mark them as secrets."""
        masked = None if value is None else without_secrets(value)
        return super().process_bind_param(masked, dialect)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> str | None:
        """Mask secrets that an earlier version stored."""
        return None if value is None else without_secrets(value)


class MaskedDocument(TypeDecorator[JsonValue]):
    """JSON that is shown and never searched, with its texts masked as in `MaskedText`."""

    impl: _Impl = JSON(none_as_null=True)
    cache_ok: bool | None = True

    def process_bind_param(self, value: JsonValue, _dialect: Dialect) -> JsonValue:
        """Mask each text; keys stay, because they are our own names."""
        return _masked(value)

    def process_result_value(self, value: JsonValue, _dialect: Dialect) -> JsonValue:
        """Mask secrets that an earlier version stored."""
        return _masked(value)


def _masked(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return without_secrets(value)
        case list():
            return [_masked(each) for each in value]
        case dict():
            return {key: _masked(each) for key, each in value.items()}
        case _:
            return value


class OffsetsJson(TypeDecorator[Offsets]):
    """Offsets as `{"topic:0": 17}`, for lists that are shown and never searched."""

    impl: _Impl = JSON(none_as_null=True)
    cache_ok: bool | None = True

    def process_bind_param(self, value: Offsets | None, _dialect: Dialect) -> dict[str, int] | None:
        """Write the partitions in order."""
        return None if value is None else {str(p): value[p] for p in sorted(value)}

    def process_result_value(
        self,
        value: Mapping[str, int] | None,
        _dialect: Dialect,
    ) -> Offsets | None:
        """Read the partitions."""
        return None if value is None else {TopicPartition.parse(p): value[p] for p in value}


BIG_ID = BigInteger().with_variant(Integer, "sqlite")
"""A number that the database generates; SQLite generates one only for its own INTEGER."""

DOCUMENT = JSON(none_as_null=True)
"""JSON as text: PostgreSQL's binary form would refuse NUL inside a record's sample."""

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)
"""The SQLAlchemy metadata that all our tables belong to."""
