"""Where calls of flows may go, and where not, in every form of a host and of an address."""

import ipaddress

import pytest

from supervisor.core.flows.http_places import (
    PlaceRefused,
    is_allowed,
    place_of_url,
    refusal_of_address,
)


@pytest.mark.parametrize(
    ("url", "host", "port", "header"),
    [
        ("http://Hooks.Example/x?y=1", "hooks.example", 80, "hooks.example"),
        ("https://hooks.example:8443/", "hooks.example", 8443, "hooks.example:8443"),
        ("http://[::1]:81/", "::1", 81, "[::1]:81"),
        ("https://hooks.example.", "hooks.example", 443, "hooks.example"),
    ],
)
def test_a_url_leads_to_a_place(url: str, host: str, port: int, header: str) -> None:
    place = place_of_url(url)
    assert (place.host, place.port, place.header) == (host, port, header)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://hooks.example/",
        "hooks.example/x",
        "http:///x",
        "http://ann:secret@hooks.example/",
        "http://hooks.example:99999/",
        "http://hooks.example/a b",
        "http://hooks.example/\r\nX-More: 1",
        "http://[::1",
        "http://hooks.example\\@127.0.0.1/",
        "http://127.0.0.1@hooks.example/",
        "http://@hooks.example/",
        "",
    ],
)
def test_what_is_no_url_of_a_call_is_refused(url: str) -> None:
    with pytest.raises(PlaceRefused):
        place_of_url(url)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.9", "[::1]"])
def test_without_a_setting_this_machine_is_allowed(host: str) -> None:
    assert is_allowed(place_of_url(f"http://{host}:8090/"), ())


@pytest.mark.parametrize(
    "host",
    [
        "hooks.example",
        "10.0.0.1",
        "169.254.169.254",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "017700000001",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[fe80::1%25lo]",
        "[::]",
        "0.0.0.0",  # noqa: S104 -- an address to refuse
        "localhost.example",
    ],
)
def test_without_a_setting_nothing_else_is(host: str) -> None:
    assert not is_allowed(place_of_url(f"http://{host}/"), ())


@pytest.mark.parametrize(
    ("allow", "url", "may"),
    [
        ("hooks.example", "https://hooks.example/", True),
        ("hooks.example", "https://hooks.example:8443/", True),
        ("hooks.example:443", "https://hooks.example:8443/", False),
        ("hooks.example", "https://evil.hooks.example/", False),
        ("*.example", "https://hooks.example/", True),
        ("*.example", "https://example/", False),
        ("*.example", "https://hooksexample/", False),
        ("hooks.example", "http://localhost/", False),
        ("[::1]:81", "http://[::1]:81/", True),
        ("[::1]:81", "http://[::1]:82/", False),
    ],
)
def test_the_operator_names_hosts(allow: str, url: str, may: bool) -> None:
    assert is_allowed(place_of_url(url), (allow,)) is may


@pytest.mark.parametrize(
    ("allow", "address", "may"),
    [
        ("hooks.example", "93.184.216.34", True),
        ("hooks.example", "10.1.2.3", True),
        ("*.example", "10.1.2.3", False),
        ("*.example", "93.184.216.34", True),
        ("hooks.example", "127.0.0.1", False),
        ("hooks.example", "::1", False),
        ("hooks.example", "::ffff:127.0.0.1", False),
        ("hooks.example", "169.254.169.254", False),
        ("hooks.example", "fe80::1", False),
        ("hooks.example", "0.0.0.0", False),  # noqa: S104 -- an address to refuse
        ("hooks.example", "224.0.0.1", False),
        ("hooks.example", "fd00::1", True),
        ("*.example", "fd00::1", False),
        ("hooks.example", "64:ff9b::7f00:1", False),
        ("hooks.example", "64:ff9b::a9fe:a9fe", False),
        ("*.example", "64:ff9b::a01:203", False),
        ("hooks.example", "64:ff9b::5db8:d822", True),
        ("hooks.example", "2002:7f00:1::", False),
        ("hooks.example", "2002:a9fe:a9fe::1", False),
        ("hooks.example", "2001:0:4136:e378:8000:63bf:80ff:fffe", False),
        ("hooks.example", "::7f00:1", False),
        ("hooks.example", "::ffff:169.254.169.254", False),
    ],
)
def test_an_allowed_name_does_not_lead_anywhere(allow: str, address: str, may: bool) -> None:
    place = place_of_url("https://hooks.example/")
    why = refusal_of_address(place, ipaddress.ip_address(address), (allow,))
    assert (why is None) is may
    assert may or "hooks.example" in str(why)


def test_an_address_that_is_named_itself_is_allowed() -> None:
    place = place_of_url("http://127.0.0.1:81/")
    assert refusal_of_address(place, ipaddress.ip_address("127.0.0.1"), ("127.0.0.1",)) is None
    local = place_of_url("http://localhost:81/")
    assert refusal_of_address(local, ipaddress.ip_address("::1"), ("localhost",)) is None
