"""Query parameters that bound a list by times: both have a zone, and the end is exclusive."""

from datetime import datetime
from typing import Annotated

from fastapi import Query

from supervisor.core.values.errors import FieldError, InvalidRequest

_EXAMPLE = "2026-01-05T12:00:00Z"
_Moment = datetime | None
From = Annotated[
    _Moment, Query(alias="from", description="Not before this time.", examples=[_EXAMPLE])
]
To = Annotated[_Moment, Query(alias="to", description="Before this time.", examples=[_EXAMPLE])]


def check_times(**moments: datetime | None) -> None:
    """Refuse times without a zone, and a window that ends before it begins.

    Each time goes by the name of its parameter; `begin` is `from`, and `end` is `to`.

    Raises:
        InvalidRequest: with the place of the time.
    """
    names = {"begin": "from", "end": "to"}
    for name, moment in moments.items():
        if moment is not None and moment.tzinfo is None:
            pointer = f"/query/{names.get(name, name)}"
            raise InvalidRequest([FieldError(pointer, "has no time zone", _EXAMPLE)])
    begin, end = moments.get("begin"), moments.get("end")
    if begin is not None and end is not None and end <= begin:
        hint = "a time after `from`"
        raise InvalidRequest([FieldError("/query/to", "the window ends before it begins", hint)])
