"""Files and page of the console: which path gets which, with which headers."""

import gzip
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from supervisor.api.console.missing import COMMANDS
from supervisor.api.console.pages import BUILD_HEADER, ConsolePages

SCRIPT = b"console.log('begun');" * 100
PAGE = (
    '<html><head><meta name="csp-nonce" content="__NONCE__">'
    '<meta name="tidegate-build" content="__BUILD__"></head></html>'
)
FOR_GOOD = "public, max-age=31536000, immutable"


async def _api(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 -- ASGI
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the api"})


def _write(folder: Path, digest: str = "0123456789abcdef", script: bytes = SCRIPT) -> Path:
    assets = folder / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    (assets / "index-Ab12.js").write_bytes(script)
    (assets / "index-Ab12.js.gz").write_bytes(gzip.compress(script, mtime=0))
    (assets / "icon-Cd34.svg").write_text("<svg/>")
    (folder / "THIRD-PARTY.txt").write_text("licences")
    (folder / "BUILT-FROM").write_text(f"{digest}\n")
    following = folder / "index.next"
    following.write_text(PAGE)
    following.rename(folder / "index.html")
    return folder


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return _write(tmp_path / "dist")


@pytest.fixture
def client(built: Path) -> TestClient:
    return TestClient(ConsolePages(_api, built), follow_redirects=False)


@pytest.fixture
def unbuilt(tmp_path: Path) -> TestClient:
    return TestClient(ConsolePages(_api, tmp_path / "nothing"), follow_redirects=False)


def test_an_asset_is_kept_for_good(client: TestClient) -> None:
    plain = client.get("/ui/assets/index-Ab12.js", headers={"Accept-Encoding": "identity"})

    assert plain.content == SCRIPT
    assert plain.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert plain.headers["Cache-Control"] == FOR_GOOD
    assert "Content-Encoding" not in plain.headers
    assert plain.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "*"])
def test_the_compressed_file_is_sent_to_those_who_take_it(
    client: TestClient, built: Path, accepted: str
) -> None:
    sent = client.get("/ui/assets/index-Ab12.js", headers={"Accept-Encoding": accepted})

    assert sent.headers["Content-Encoding"] == "gzip"
    size_bytes = (built / "assets/index-Ab12.js.gz").stat().st_size
    assert sent.headers["Content-Length"] == str(size_bytes)
    assert sent.content == SCRIPT


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "*;q=0"])
def test_nobody_else_gets_it(client: TestClient, accepted: str) -> None:
    sent = client.get("/ui/assets/index-Ab12.js", headers={"Accept-Encoding": accepted})

    assert "Content-Encoding" not in sent.headers
    assert sent.content == SCRIPT


def test_a_file_that_is_known_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/ui/THIRD-PARTY.txt")

    again = client.get("/ui/THIRD-PARTY.txt", headers={"If-None-Match": first.headers["ETag"]})

    assert (first.status_code, first.headers["Cache-Control"]) == (200, "no-cache")
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/ui/",
        "/ui/index.html",
        "/ui/supervisors",
        "/ui/supervisors/orders%2Feu/partitions?sort=lag",
        "/ui/tasks/a.b.js/log",
    ],
)
def test_every_other_path_is_the_page(client: TestClient, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers[BUILD_HEADER] == "0123456789ab"
    assert '<meta name="tidegate-build" content="0123456789ab">' in answer.text
    assert "ETag" not in answer.headers


def _nonce(policy: str) -> str:
    found = re.search(r"'nonce-([^']+)'", policy)
    assert found is not None, policy
    return found[1]


def test_each_page_has_a_nonce_of_its_own_and_the_policy_names_it(client: TestClient) -> None:
    pages = [client.get("/ui/") for _ in range(3)]

    nonces = {_nonce(page.headers["Content-Security-Policy"]) for page in pages}
    assert len(nonces) == 3
    for page in pages:
        nonce = _nonce(page.headers["Content-Security-Policy"])
        assert f'<meta name="csp-nonce" content="{nonce}">' in page.text
        assert len(nonce) >= 22, "128 bits as base64"
        assert page.headers["Content-Security-Policy"] == (
            "default-src 'none'; script-src 'self'; "
            f"style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
            "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )


@pytest.mark.parametrize(
    "path",
    [
        "/ui/assets/index-Ef56.js",
        "/ui/assets/",
        "/ui/assets/index-Ab12.js.gz",
        "/ui/assets/%2e%2e/%2e%2e/secret.txt",
        "/ui/assets/..%2findex.html",
        "/ui/%2e%2e/secret.txt",
        "/ui/..%2f..%2fsecret.txt",
    ],
)
def test_what_is_no_file_of_the_build_is_not_there(
    client: TestClient, built: Path, path: str
) -> None:
    (built.parent / "secret.txt").write_text("hidden text")
    (built.parent.parent / "secret.txt").write_text("hidden text")

    answer = client.get(path)

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-such-route")
    assert "hidden text" not in answer.text


@pytest.mark.parametrize("path", ["/ui/", "/ui/assets/index-Ab12.js", "/ui/x.txt", "/ui"])
def test_head_has_the_headers_alone(client: TestClient, path: str) -> None:
    whole, head = client.get(path), client.head(path)

    assert head.status_code == whole.status_code
    assert head.content == b""
    varying = {"content-security-policy"}
    assert set(head.headers.items()) - set(whole.headers.items()) == {
        (name, value) for name, value in head.headers.items() if name in varying
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed_there(client: TestClient, method: str) -> None:
    answer = client.request(method, "/ui/supervisors")

    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert answer.json()["type"] == "/problems/method-not-allowed"


@pytest.mark.parametrize("accepted", ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html"])
def test_a_browser_at_the_root_is_led_to_the_console(client: TestClient, accepted: str) -> None:
    answer = client.get("/", headers={"Accept": accepted})

    assert (answer.status_code, answer.headers["Location"]) == (302, "/ui/")
    assert client.get("/ui").headers["Location"] == "/ui/"


@pytest.mark.parametrize("path", ["/", "/uix", "/status", "/druid/indexer/v1/supervisor"])
def test_everything_else_is_the_api(client: TestClient, path: str) -> None:
    assert client.get(path).text == "the api"
    assert client.post(path, headers={"Accept": "text/html"}).text == "the api"


def test_a_new_build_is_served_without_a_restart(client: TestClient, built: Path) -> None:
    before = client.get("/ui/").headers[BUILD_HEADER]

    _write(built, digest="fedcba9876543210", script=b"another")

    assert before == "0123456789ab"
    assert client.get("/ui/").headers[BUILD_HEADER] == "fedcba987654"
    assert client.get("/ui/assets/index-Ab12.js").content == b"another"


def test_a_console_that_is_built_later_is_served(tmp_path: Path) -> None:
    client = TestClient(ConsolePages(_api, tmp_path / "dist"))
    before = client.get("/ui/").status_code

    _write(tmp_path / "dist")

    assert (before, client.get("/ui/").status_code) == (503, 200)


def test_without_a_build_the_page_says_what_to_do(unbuilt: TestClient) -> None:
    answer = unbuilt.get("/ui/supervisors")

    assert answer.status_code == 503
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "python -m scripts.console" in answer.text
    assert all(f"<code>{command}</code>" in answer.text for _, command in COMMANDS)
    assert "<script" not in answer.text
    nonce = _nonce(answer.headers["Content-Security-Policy"])
    assert f'<style nonce="{nonce}">' in answer.text
    assert unbuilt.get("/ui/assets/index-Ab12.js").status_code == 404
    assert unbuilt.get("/", headers={"Accept": "text/html"}).headers["Location"] == "/ui/"
