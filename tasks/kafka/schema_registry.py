"""Client of schema registries with Confluent's API; each schema is requested once and cached.

    number ─► cached? ─► GET <url>/schemas/ids/<number> ─┬─ 200  a schema; its references follow
                           one URL after the other       ├─ 404, error 40403: there is none
                                                         └─ all else: no answer, worth a retry

A number means one schema for ever, so schemas are cached; the answer "there is none" is not.
For Protobuf the descriptor is requested; a registry that answers with a source has it compiled.
No redirect is followed, and no address is contacted but those of the task's spec.
"""

import base64
import json
import ssl
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from urllib.parse import quote

import httpx
import structlog
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tasks.contract.kafka_client import ReadSecret, SecretRef
from tasks.contract.messages import FailureCode
from tasks.contract.registry import Registry, refused_registries
from tasks.kafka.http_answers import bounded
from tasks.kafka.proto_compiler import NoCompilerError, NotCompiledError, compiled
from tasks.ports import SchemasUnavailable, SchemaText, TaskError
from tasks.runtime.secrets import known_secrets

TIMEOUT_S = 5.0
"""Timeout of each request, from its first byte to the last."""
ANSWER_BYTES_MAX = 2_000_000
REFERENCES_MAX = 50
"""Most schemas that one schema may refer to, directly or not."""
KEPT_MAX = 5_000
"""Most schemas in the cache, of all registries together."""

_NO_SCHEMA = 40403
_TEXT_MAX = 300

log = structlog.get_logger(__name__)


class RegistryClient:
    """`tasks.ports.SchemaSource` over HTTP; safe to call from many threads."""

    def __init__(
        self,
        read_secret: ReadSecret,
        *,
        allowed: Sequence[str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`allowed`: the hosts that may be contacted; None: any."""
        self._read_secret = read_secret
        self._allowed = allowed
        self._timeout_s = timeout_s
        # No proxy and no netrc of the environment: only credentials that the spec refers to.
        self._client = httpx.Client(
            trust_env=False, follow_redirects=False, verify=ssl.create_default_context()
        )
        self._kept: OrderedDict[tuple[str, int], SchemaText] = OrderedDict()
        self._lock = Lock()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def schema(self, registry: Registry, number: int) -> SchemaText | None:
        """Return a schema.  Raises as `SchemaSource.schema`."""
        key = registry.to_json(), number
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept
        schema_text = self._fetch(registry, number)
        if schema_text is not None:
            with self._lock:
                self._kept[key] = schema_text
                if len(self._kept) > KEPT_MAX:
                    self._kept.popitem(last=False)
        return schema_text

    def _fetch(self, registry: Registry, number: int) -> SchemaText | None:
        answer = self._get(registry, f"/schemas/ids/{number}")
        if answer is None:
            return None
        references: list[tuple[str, str]] = []
        self._add_references(registry, answer, references, set())
        kind, text = str(answer.get("schemaType", "AVRO")), _schema_of(answer)
        if kind == "PROTOBUF" and registry.binary:
            text, references = _descriptors(text, references)
        names, texts = tuple(name for name, _ in references), tuple(held for _, held in references)
        return SchemaText(kind, text, texts, names)

    def _add_references(
        self,
        registry: Registry,
        answer: dict[str, object],
        texts: list[tuple[str, str]],
        begun: set[tuple[str, int]],
    ) -> None:
        """Append the schemas that a schema refers to, each behind its own references."""
        listed = answer.get("references") or []
        for reference in listed if isinstance(listed, list) else [listed]:
            name, subject, version = _reference(reference)
            if (subject, version) in begun:
                continue
            if len(begun) >= REFERENCES_MAX:
                raise SchemasUnavailable(f"a schema refers to more than {REFERENCES_MAX} others")
            begun.add((subject, version))
            held = self._get(registry, f"/subjects/{quote(subject, safe='')}/versions/{version}")
            if held is None:
                raise SchemasUnavailable(f"{subject} version {version}, referred to, is not there")
            self._add_references(registry, held, texts, begun)
            texts.append((name, _schema_of(held)))

    def _get(self, registry: Registry, path: str) -> dict[str, object] | None:
        if refused := refused_registries(registry.urls, self._allowed):
            raise SchemasUnavailable(
                f"this worker may not connect to the registry {', '.join(refused)}: "
                "TIDEGATE_REGISTRY_ALLOW does not name it"
            )
        troubles = []
        query = "?format=serialized" if registry.binary else ""
        for url in registry.urls:
            try:
                status, body = self._answer(f"{url}{path}{query}", registry)
            except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
                troubles.append(f"{url}: {str(error) or type(error).__name__}")
                continue
            answer = _parsed(body)
            if status == httpx.codes.OK and answer is not None:
                return answer
            if (
                status == httpx.codes.NOT_FOUND
                and answer
                and answer.get("error_code") == _NO_SCHEMA
            ):
                return None
            troubles.append(f"{url}: {status} {_error_text(answer)}".rstrip())
        raise SchemasUnavailable(
            f"the schema registry does not answer: {'; '.join(troubles)}"[:1_000]
        )

    def _answer(self, url: str, registry: Registry) -> tuple[int, bytes]:
        headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        headers |= registry.headers
        headers |= {name: self._secret(ref) for name, ref in registry.header_secrets.items()}
        auth = None
        if registry.user_info is not None:
            user, _, password = self._secret(registry.user_info).partition(":")
            known_secrets().learn(password)
            auth = httpx.BasicAuth(user, password)
        with self._client.stream(
            "GET", url, headers=headers, auth=auth, timeout=self._timeout_s
        ) as response:
            return response.status_code, b"".join(
                bounded(response, self._timeout_s, ANSWER_BYTES_MAX)
            )

    def _secret(self, secret: SecretRef) -> str:
        value = self._read_secret(secret).strip()
        if not value.isascii() or not value.isprintable():  # httpx would show it in its error
            message = f"{secret.environment} holds a character that no header of HTTP may have"
            raise TaskError(FailureCode.REFUSED, message)
        return value


def _parsed(body: bytes) -> dict[str, object] | None:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _error_text(answer: dict[str, object] | None) -> str:
    if answer is None:
        return "with what is no answer of a registry"
    return str(answer.get("message", ""))[:_TEXT_MAX]


def _schema_of(answer: dict[str, object]) -> str:
    text = answer.get("schema")
    if not isinstance(text, str):
        raise SchemasUnavailable("the registry's answer holds no schema")
    return text


def _descriptors(text: str, imports: list[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """Return descriptors in base64, even if a registry has answered with sources.

    A source that cannot be compiled is returned unchanged: it is a schema that nobody can read.
    """
    if not any(map(_is_source, (text, *dict(imports).values()))):
        return text, imports
    try:
        main, others = compiled(text, imports)
    except NotCompiledError as error:
        log.warning("a registry's source of Protobuf cannot be compiled", error=str(error))
        return text, imports
    except NoCompilerError as error:
        raise SchemasUnavailable(str(error)) from error
    return _base64(main), [(name, _base64(file)) for name, file in others]


def _is_source(text: str) -> bool:
    """Tell a source from base64, which has none of these characters; every source has one."""
    return any(sign in text for sign in ";{}")


def _base64(file: FileDescriptorProto) -> str:
    return base64.b64encode(file.SerializeToString()).decode()


def _reference(given: object) -> tuple[str, str, int]:
    if isinstance(given, dict):
        subject, version = given.get("subject"), given.get("version")
        if isinstance(subject, str) and isinstance(version, int):
            return str(given.get("name", subject)), subject, version
    raise SchemasUnavailable("the registry's references are no list of subjects and versions")
