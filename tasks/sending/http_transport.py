"""Records by HTTP to a persister's door: in parts of a mebibyte, an outcome for each record.

    200 ─► outcomes: stored, conflict, mismatch, skipped, rejected ─► the records are done
    413 ─► halves; one record alone that is too large is left out and counted
    429, 503 ─► the next address; when all say so, the wait that they ask for
    else ─► away, with what to check

One connection is kept.  A part that was stored without an answer is sent again, and is a conflict
then.  `rejected` is done as well: the persister keeps it as a dead letter, and counts it.
"""

import ssl
from collections.abc import Callable, Iterator, Sequence

import httpx
from pydantic import TypeAdapter, ValidationError

from tasks.kafka.http_answers import bounded
from tasks.sending.transport import Outgoing, TransportAway

__all__ = ["HttpTransport"]

PART_BYTES = 1024 * 1024
"""Of one request; a record that is larger goes alone."""
RETRY_S_MAX = 60.0
"""The longest wait that a persister may ask for."""
_PATH = "/internal/v1/reports"
_CONNECT_S = 2.0
_ANSWERS_WITHIN_S = 30.0
_KEPT_S = 3.0
"""How long an idle connection is kept: what lies between may close it early."""
_ANSWER_BYTES_MAX = 4 * 1024 * 1024
_TEXT_MAX = 300
_DONE = {"stored", "conflict", "mismatch", "skipped", "rejected"}
_REJECTED = "rejected"
_LATER = {httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE}
_NOT_YOURS = {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}
_NO_DOOR = {httpx.codes.NOT_FOUND, httpx.codes.METHOD_NOT_ALLOWED}
_ADVICE: dict[int, str] = {
    **dict.fromkeys(
        _NOT_YOURS, "set TIDEGATE_REPORTS_KEY_FILE, the same for persisters and workers"
    ),
    **dict.fromkeys(_NO_DOOR, "check that TIDEGATE_REPORTS_PERSISTER names a persister"),
}


class _TooLargeHere(Exception):
    """The persister, or a proxy before it, takes no body of this size."""


class HttpTransport:
    """The way to the persisters of `doors`; implements `Transport`.

    Args:
        doors: base addresses; the one that answered last is tried first.
        key: what persisters ask of who sends; None: nothing is sent.
        tls: the authorities to trust; True: the system's.
        part_bytes: of one request.
        answers_within_s: how long an answer may take.
    """

    def __init__(
        self,
        doors: Callable[[], Sequence[str]],
        key: str | None = None,
        tls: ssl.SSLContext | bool = True,
        *,
        part_bytes: int = PART_BYTES,
        answers_within_s: float = _ANSWERS_WITHIN_S,
    ) -> None:
        self._doors, self._key, self._tls = doors, key, tls
        self._part_bytes, self._within_s = part_bytes, answers_within_s
        self.refused_total = 0
        """Records that were refused for good."""
        self._last = ""
        """The address that answered last."""
        self._client: httpx.Client | None = None

    def send(self, batch: Sequence[Outgoing]) -> None:
        """Send a batch, part by part, and wait for the outcomes.

        Raises:
            TransportAway: not each record has an outcome; the text says what is away.
        """
        for part in _parts(batch, self._part_bytes):
            self._send_part(part)

    def close(self) -> None:
        """Close the connection; it is opened again when something is sent."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _send_part(self, part: Sequence[bytes]) -> None:
        try:
            outcomes = self._outcomes(part)
        except _TooLargeHere:
            if len(part) == 1:
                self.refused_total += 1
                return
            half = len(part) // 2
            self._send_part(part[:half])
            self._send_part(part[half:])
            return
        if len(outcomes) != len(part) or not _DONE.issuperset(outcomes):
            raise TransportAway(f"{self._last} answered without an outcome for each record")
        self.refused_total += outcomes.count(_REJECTED)

    def _outcomes(self, part: Sequence[bytes]) -> list[str]:
        troubles: list[str] = []
        waits: list[float] = []
        for address in self._in_turn():
            try:
                response, body = self._post(address, b"\n".join(part))
            except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
                self.close()  # what is left of an answer must not be taken for the next one
                troubles.append(f"{address}: {str(error) or type(error).__name__}")
                continue
            status = response.status_code
            if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
                raise _TooLargeHere
            if status == httpx.codes.OK:
                self._last = address
                return _read(address, body)
            if status in _LATER:
                waits.append(_retry_s(response))
            troubles.append(f"{address}: {status} {_detail(body)}{_advice(status)}")
        if not troubles:
            raise TransportAway(
                "no persister's address is known: set TIDEGATE_REPORTS_PERSISTER for the overlords"
            )
        raise TransportAway("; ".join(troubles), retry_s=min(waits, default=0.0))

    def _in_turn(self) -> list[str]:
        doors = [*self._doors()]
        return sorted(doors, key=lambda each: each != self._last)

    def _post(self, address: str, content: bytes) -> tuple[httpx.Response, bytes]:
        if self._client is None:
            self._client = httpx.Client(
                limits=httpx.Limits(max_connections=1, keepalive_expiry=_KEPT_S),
                follow_redirects=False,
                trust_env=False,
                verify=self._tls,
                headers={} if self._key is None else {"Authorization": f"Bearer {self._key}"},
            )
        timeout = httpx.Timeout(self._within_s, connect=_CONNECT_S)
        with self._client.stream(
            "POST",
            f"{address}{_PATH}",
            content=content,
            headers={"Content-Type": "application/x-ndjson"},
            timeout=timeout,
        ) as response:
            return response, b"".join(bounded(response, self._within_s, _ANSWER_BYTES_MAX))


def _parts(batch: Sequence[Outgoing], bytes_max: int) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for each in batch:
        if part and size + len(each.body) + 1 > bytes_max:
            yield part
            part, size = [], 0
        part.append(each.body)
        size += len(each.body) + 1
    if part:
        yield part


def _read(address: str, body: bytes) -> list[str]:
    try:
        return TypeAdapter(dict[str, list[str]]).validate_json(body)["outcomes"]
    except (ValidationError, KeyError) as error:
        raise TransportAway(
            f"{address} answers, but not as a persister: check TIDEGATE_REPORTS_PERSISTER"
        ) from error


def _retry_s(response: httpx.Response) -> float:
    """Return the wait that is asked for; 0: none is, or it is no number of seconds."""
    text = response.headers.get("Retry-After", "").strip()
    return min(float(text), RETRY_S_MAX) if text.isascii() and text.isdigit() else 0.0


def _detail(body: bytes) -> str:
    try:
        detail = TypeAdapter(dict[str, object]).validate_json(body).get("detail")
    except ValidationError:
        detail = body.decode(errors="replace")
    return str(detail or "")[:_TEXT_MAX]


def _advice(status: int) -> str:
    return f": {_ADVICE[status]}" if status in _ADVICE else ""
