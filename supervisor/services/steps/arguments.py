"""The arguments of a verb, once the expressions in them are worked out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from pydantic import JsonValue
from pydantic_core import PydanticCustomError

from supervisor.core.planning.preconditions import WHATEVER, Expected, read_tags
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.field_types import shown
from supervisor.core.values.intervals import FORM, Interval, parse_interval

__all__ = ["Arguments"]


@dataclass(frozen=True)
class Arguments:
    """Reads arguments by their names; a wrong one raises InvalidRequest with its name."""

    given: Mapping[str, JsonValue]

    def text(self, name: str) -> str:
        """Return a text that has to be there."""
        value = self.given.get(name)
        if not isinstance(value, str) or not value:
            raise wrong_argument(name, value, "a text")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Return a text; None: it was left out."""
        return None if self.given.get(name) is None else self.text(name)

    def whole(self, name: str) -> int | None:
        """Return a whole number of 0 or more, which may be written as a text."""
        value = self.given.get(name)
        return None if value is None else whole_of(name, value)

    def flag(self, name: str) -> bool:
        """Return whether something is wanted."""
        return self.given.get(name) is True

    def mapping(self, name: str) -> Mapping[str, JsonValue] | None:
        """Return an object; None: it was left out."""
        value = self.given.get(name)
        if value is not None and not isinstance(value, dict):
            raise wrong_argument(name, value, "an object")
        return value

    def items(self, name: str) -> Sequence[JsonValue] | None:
        """Return a list; None: it was left out."""
        value = self.given.get(name)
        if value is not None and not isinstance(value, list):
            raise wrong_argument(name, value, "a list")
        return value

    def interval(self, name: str) -> Interval | None:
        """Return an interval; None: it was left out."""
        text = self.text_or_none(name)
        try:
            return None if text is None else parse_interval(text)
        except PydanticCustomError:
            raise wrong_argument(name, text, FORM) from None

    def moment(self, name: str) -> datetime:
        """Return a time; without a zone it is UTC."""
        text = self.text(name)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise wrong_argument(name, text, "a time such as 2026-11-25T04:00:00Z") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)

    def day(self, name: str) -> date:
        """Return a day."""
        text = self.text(name)
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise wrong_argument(name, text, "a day such as 2026-11-25") from None

    def expected(self) -> Expected:
        """Return the precondition of `ifMatch`, a tag with or without its quotes."""
        text = self.text_or_none("ifMatch")
        if text is None:
            return WHATEVER
        tags = read_tags([text if text.startswith(('"', "*")) else f'"{text}"'], weak=False)
        if tags is None:
            raise wrong_argument("ifMatch", text, "a tag as an apply gives it")
        return Expected(match=tags)


def whole_of(name: str, value: JsonValue) -> int:
    """Return a whole number of 0 or more, which may be written as a text."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():  # numbers of an expression may be such
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise wrong_argument(name, value, "a whole number, 0 or more")
    return value


def wrong_argument(name: str, value: object, wanted: str) -> InvalidRequest:
    """Return the error for an argument of another form."""
    return InvalidRequest([FieldError(f"/{name}", f"{shown(value)} is not {wanted}", wanted)])
