"""The body of an answer of HTTP, read with a bound: a stranger's server must not hold us up."""

import time
from collections.abc import Iterator

import httpx


def bounded(response: httpx.Response, seconds: float, bytes_max: int) -> Iterator[bytes]:
    """Yield the body; an endless or a dripping one ends in an error.

    Raises:
        httpx.ReadError: it has more than `bytes_max` bytes.
        httpx.ReadTimeout: it is not complete after `seconds`.
    """
    size, until = 0, time.monotonic() + seconds
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > bytes_max:
            raise httpx.ReadError(f"the answer has more than {bytes_max} bytes")
        if time.monotonic() > until:
            raise httpx.ReadTimeout(f"the answer was not complete within {seconds:g} s")
        yield chunk
