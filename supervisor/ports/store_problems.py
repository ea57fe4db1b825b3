"""What a store beside the metadata says when it takes nothing: reports, logs, executions."""

__all__ = ["ContentRefused", "StoreAway", "StoreMissing", "StoreRefuses"]


class StoreAway(Exception):
    """The store is away, busy or full: nothing of the call is stored, and a repeat may succeed."""


class StoreRefuses(Exception):
    """The store refuses everything until somebody acts: no schema, a wrong password, no right.

    Its text says what to do.
    """


class StoreMissing(StoreRefuses):
    """Nobody has made the store yet, so nothing is in it."""


class ContentRefused(Exception):
    """Something in the batch can never be stored: nothing of it is.

    The caller tries the halves, until the culprit is alone.
    """
