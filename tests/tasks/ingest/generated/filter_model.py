"""Which rows a random filter lets pass: plain Python, after the page of the spec."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from tests.tasks.ingest.generated.draws.filters import Document
from tests.tasks.ingest.generated.draws.records import Fields
from tests.tasks.ingest.generated.value_model import as_number, text_of


def passes(wanted: Document, fields: Fields) -> bool:
    """Tell whether a filter matches; what a null leaves undecided does not."""
    return bool(_decided(wanted, fields))


def _decided(wanted: Mapping[str, JsonValue], fields: Fields) -> bool | None:
    inner = wanted.get("fields")
    each = [_decided(one, fields) for one in inner] if isinstance(inner, list) else []  # type: ignore[arg-type]
    g, n = text_of(fields.get("g")), as_number(fields.get("n"))
    match wanted["type"]:
        case "not":
            decided = _decided(wanted["field"], fields)  # type: ignore[arg-type]
            return None if decided is None else not decided
        case "and":
            return False if False in each else None if None in each else True
        case "or":
            return True if True in each else None if None in each else False
        case "null":
            return g is None
        case "selector" if wanted["value"] is None:
            return g is None
        case "selector" | "in":
            several = wanted.get("values", [wanted.get("value")])
            assert isinstance(several, list)
            return _is_one_of(fields.get(str(wanted["dimension"])), [str(one) for one in several])
        case "like":
            return None if g is None else g.startswith("a")
        case "equals":
            return None if g is None else g == "b"
        case "bound":
            return None if n is None else n >= 1
        case "range":
            return None if n is None else n < 1.5
        case _:
            return None if n is None else n > 1


def _is_one_of(value: JsonValue, wanted: Sequence[str]) -> bool | None:
    """A number is compared with the numbers among them, anything else as text."""
    if isinstance(value, list):
        each = [_is_one_of(one, wanted) for one in value]
        return True if True in each else None if None in each else False
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None if value is None else text_of(value) in wanted
    return value in {float(text) for text in wanted if text[-1:].isdigit()}
