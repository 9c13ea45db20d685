"""Cards of agents: what is none is told in one sentence, and one that is built a little otherwise is read."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import pytest
from remote_agents.rogue import (
    HEAD,
    card,
    json_page,
    nothing,
    said,
    serving,
)

from workbench.interop.a2a.card import MOST_BYTES, fetch_card
from workbench.models.types import ModelError


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body>Welcome</body></html>",
            "not an agent card but text/html",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/elsewhere\r\n\r\n",
            "redirects to http://127.0.0.1:1/elsewhere",
        ),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "no agent card at"),
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n", "requires credentials (HTTP 401)"),
        (b"HTTP/1.1 500 Oops\r\n\r\n", "failed (HTTP 500)"),
        (b"", "closed the connection before it answered"),
        (json_page([1, 2]), "not a JSON object"),
        (json_page({"name": "x", "supportedInterfaces": "nonsense"}), "does not have the structure of an A2A card"),
        (
            json_page({"name": "x", "skills": [7], "url": "http://127.0.0.1:1"}),
            "does not have the structure of an A2A card",
        ),
        (json_page({"name": " ", "url": "http://127.0.0.1:1"}), "has no name"),
        (json_page({"name": "x", "url": "grpc://127.0.0.1:1", "preferredTransport": "GRPC"}), "it offers: GRPC"),
        (json_page({"name": "x", "url": "file:///etc/passwd"}), "no supported interface"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b"[" * 100_000,
            "not an agent card but application/json",
        ),
    ],
)
async def test_what_is_no_card_is_told_in_one_sentence(page: bytes, words: str) -> None:
    async with serving(nothing) as rogue:
        rogue.card = lambda: page
        with pytest.raises(ModelError) as error:
            await fetch_card(rogue.url, {})
    assert words in said(error)
    assert rogue.url in said(error)


async def test_a_card_of_50_mb_is_stopped_at_the_limit() -> None:
    async with serving(nothing) as rogue:
        rogue.card = lambda: HEAD + b'{"name": "' + b"x" * 50_000_000
        with pytest.raises(ModelError, match=f"sent more than {MOST_BYTES:,} bytes"):
            await fetch_card(rogue.url, {})


async def test_packed_bytes_are_refused_as_their_size_is_not_known(tmp_path: Path) -> None:
    async with serving(nothing) as rogue:
        rogue.card = lambda: b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + b"\x1f\x8b" * 10
        with pytest.raises(ModelError, match="compressed response"):
            await fetch_card(rogue.url, {})


async def test_nobody_there_is_told() -> None:
    with pytest.raises(ModelError) as error:
        await fetch_card("http://127.0.0.1:1", {})
    assert said(error) == (
        "The agent at http://127.0.0.1:1 cannot be reached (connection refused); start it, or correct the address."
    )


async def test_a_certificate_that_does_not_match_is_told(tmp_path: Path) -> None:
    key, pem = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", pem, "-days", "2"]
    try:
        subprocess.run([*made, "-subj", "/CN=elsewhere.example"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate with")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    async with serving(nothing, tls=context) as rogue:
        with pytest.raises(ModelError) as error:
            await fetch_card(rogue.url, {})
    assert "its certificate is invalid" in said(error)


async def test_a_card_may_not_lead_out_of_encryption() -> None:
    from workbench.interop.a2a.card import read_card

    with pytest.raises(ModelError, match="unencrypted"):
        read_card(card("http://127.0.0.1:1"), "https://127.0.0.1:2")


@pytest.mark.parametrize(
    ("more", "binding"),
    [
        ({"preferredTransport": "JSON-RPC"}, "JSONRPC"),
        ({"preferredTransport": "http_json"}, "HTTP+JSON"),
        ({"supportedInterfaces": [{"url": "/"}]}, "JSONRPC"),
        ({"skills": [{"name": "docs"}, "more"]}, "JSONRPC"),
    ],
)
async def test_a_card_that_is_built_a_little_otherwise_is_read(more: dict[str, object], binding: str) -> None:
    async with serving(nothing) as rogue:
        rogue.card = lambda: json_page({"name": "x", "url": "/", **more})
        for address in (rogue.url, f"{rogue.url}/.well-known/agent-card.json"):
            assert (await fetch_card(address, {})).interface.binding == binding


async def test_texts_of_a_card_are_one_clean_line_and_the_model_is_a_name() -> None:
    from workbench.interop.a2a.card import read_card

    found = read_card(
        card("http://127.0.0.1:1", name="\x1b[31mred[/]\nname " + "x" * 500, version="1\x07 [b]"), "http://127.0.0.1:1"
    )
    assert "\x1b" not in found.summary()
    assert "\n" not in found.summary()
    assert len(found.summary()) < 300
    assert found.model.isprintable()
    assert " " not in found.model
    assert "[" not in found.model


def test_a_card_of_either_version_is_the_same_agent_wherever_it_is_served() -> None:
    from workbench.interop.a2a.card import read_card

    one = read_card(card("http://127.0.0.1:1"), "http://127.0.0.1:1")
    other = read_card(card("http://127.0.0.1:2"), "http://127.0.0.1:2")
    assert one.model == other.model
    assert read_card(card("http://127.0.0.1:1", version="2"), "http://127.0.0.1:1").model != one.model


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, "http://h:9002/base"),
        ("", "http://h:9002/base"),
        ("/", "http://h:9002/"),
        ("/a2a/v1", "http://h:9002/a2a/v1"),
        ("a2a", "http://h:9002/base/a2a"),
        ("localhost:9999", "http://localhost:9999"),
        ("127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("agents.example.org/a2a", "http://agents.example.org/a2a"),
        ("//other:1/x", "http://other:1/x"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("http://other:1", "http://other:1"),
    ],
)
def test_an_address_that_a_card_does_not_name_whole_is_that_of_the_card(given: str | None, meant: str) -> None:
    from workbench.interop.a2a.card import read_card

    older = {"name": "x", "url": given, "protocolVersion": "0.3.0"}
    newer = {"name": "x", "supportedInterfaces": [{"url": given, "protocolBinding": "jsonrpc"}]}
    assert [read_card(one, "http://h:9002/base").interface.url for one in (older, newer)] == [meant, meant]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://", "http://u:p@h", "http://[::1", "localhost:0"])
def test_an_address_that_is_none_is_named(url: str) -> None:
    from workbench.interop.a2a.card import read_card

    with pytest.raises(ModelError, match="it offers: JSONRPC at .*, which is not the address of a server"):
        read_card({"name": "x", "url": url}, "http://h:9002")


@pytest.mark.parametrize("there", [b"HTTP/1.1 404 No\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n<html>", json_page([])])
async def test_the_older_place_of_a_card_is_tried_where_the_newer_has_none(there: bytes) -> None:
    async with serving(nothing) as rogue:
        pages = [there, json_page({"name": "old", "url": rogue.url})]
        rogue.card = lambda: pages.pop(0)
        assert (await fetch_card(rogue.url, {})).name == "old"
