"""Bounded reading of HTTP response bodies, because a hostile server may send without end."""

import time
from collections.abc import Iterator

import httpx


def bounded(response: httpx.Response, seconds: float, bytes_max: int) -> Iterator[bytes]:
    """Yield the body in chunks; a body that is too large or too slow ends in an error.

    Raises:
        httpx.ReadError: the body has more than `bytes_max` bytes.
        httpx.ReadTimeout: the body is not complete after `seconds`.
    """
    size, until = 0, time.monotonic() + seconds
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > bytes_max:
            raise httpx.ReadError(f"the answer has more than {bytes_max} bytes")
        if time.monotonic() > until:
            raise httpx.ReadTimeout(f"the answer was not complete within {seconds:g} s")
        yield chunk
