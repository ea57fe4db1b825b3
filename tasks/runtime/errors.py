"""Errors of the parts that Tidegate runs on.  Each message says what would fix the error."""

from collections.abc import Sequence


class RuntimePartError(Exception):
    """A part outside Python (a Java, a jar) is missing or not the required one."""


class JavaMissing(RuntimePartError):
    """There is no usable Java; `tried` lists the places that were tried and the results."""

    def __init__(self, tried: Sequence[str]) -> None:
        self.tried = tuple(tried)
        super().__init__(
            "no usable Java: install a JDK 17 or 21, or pip install 'tidegate[java]'; tried: "
            + "; ".join(self.tried)
        )


class JarsError(RuntimePartError):
    """A jar is missing, unknown, or differs from its pin, or could not be fetched."""
