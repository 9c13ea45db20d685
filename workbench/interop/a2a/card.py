"""Fetch and parse an agent card of either protocol version, and derive the agent's identity from it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from workbench.agents.names import PEER_MODEL
from workbench.base.text import one_line
from workbench.interop.a2a.wire import Limit, NoAgent, client_for, headers_by_origin, problem_of
from workbench.models.types import ModelError

PATH = "/.well-known/agent-card.json"
_OLDER_PATH = "/.well-known/agent.json"  # path of protocol 0.2; some 0.3 servers offer no other
_SUPPORTED = ("JSONRPC", "HTTP+JSON")
# A host without a scheme, as in "localhost:9999/a2a" or "agents.example.org"; anything else is a path.
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[\w-]+(?:\.[\w-]+)+|localhost|[\w-]+(?=:\d))(?::\d+)?(?=/|\Z)", re.IGNORECASE)
MOST_BYTES = 1_000_000
SECONDS = 20.0
# Addresses and signatures are excluded from the digest, because they differ between servers that run the same agent.
_NOT_THE_AGENT = ("url", "additionalInterfaces", "supportedInterfaces", "signatures")


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface of an agent; ``binding`` is ``JSONRPC`` or ``HTTP+JSON``, ``version`` is the protocol version."""

    url: str
    binding: str
    version: str
    tenant: str = ""

    @property
    def is_older(self) -> bool:
        return self.version.lower().lstrip("v").partition(".")[0] in ("", "0")

    def described(self) -> str:
        """Return the binding, followed by the reason if it is supported but unusable."""
        binding, url = one_line(self.binding, 30), one_line(self.url, 80)
        return f"{binding} at {url!r}, which is not the address of a server" if self.binding in _SUPPORTED else binding

    def summary(self) -> str:
        return f"A2A {self.version or '0.3'} over {'JSON-RPC' if self.binding == 'JSONRPC' else self.binding}"


@dataclass(frozen=True, slots=True)
class PeerCard:
    """An agent card and the chosen interface; ``digest`` ignores addresses and signatures."""

    address: str
    name: str
    version: str
    description: str
    skills: tuple[str, ...]
    streaming: bool
    interface: Interface
    digest: str
    text: str

    @property
    def model(self) -> str:
        """The model name of the agent's trials: ``a2a/NAME@VERSION#DIGEST``."""
        name, version = (re.sub(r"[^\w.+-]+", "_", part)[:60].strip("_") for part in (self.name, self.version))
        return f"{PEER_MODEL}{name or 'agent'}@{version or '?'}#{self.digest[:8]}"

    def summary(self) -> str:
        how = "streaming" if self.streaming else "no streaming"
        skills = f" · skills {', '.join(self.skills[:6])}" if self.skills else ""
        return f"{self.name} {self.version} · {self.interface.summary()}, {how}{skills}"


async def fetch_card(address: str, headers: Mapping[str, Mapping[str, str]] | None = None) -> PeerCard:
    """Fetch the card of the agent at an address; ``headers`` are credentials by origin. Raises ModelError."""
    for path in (PATH, _OLDER_PATH):
        address = address.rstrip("/").removesuffix(path)
    credentials = headers_by_origin() if headers is None else headers
    limit = Limit(MOST_BYTES)
    problem: ModelError | None = None
    try:
        async with asyncio.timeout(SECONDS), client_for(limit, credentials) as client:
            for path in (PATH, _OLDER_PATH):
                try:
                    card = _decoded(await client.get(address.rstrip("/") + path), address, limit.last)
                except NoAgent as error:
                    # The server has no card at this path, and returned a 404 or one of its own pages.
                    problem = problem or error
                else:
                    return read_card(card, address)
    except TimeoutError:
        raise NoAgent(f"The agent at {address} did not send its card within {SECONDS:g} s.") from None
    except (httpx.HTTPError, OSError) as error:
        raise problem_of(error, address) from error
    assert problem is not None
    raise problem


def _decoded(response: httpx.Response, address: str, last: bytes) -> Mapping[str, Any]:
    kind = one_line(response.headers.get("content-type", "no type").partition(";")[0], 60)
    if response.status_code in (404, 405, 410):
        raise NoAgent(f"There is no agent card at {address}{PATH}; is this the address of an A2A server?")
    if response.status_code != 200:
        raise problem_of(httpx.HTTPStatusError("", request=response.request, response=response), address, last)
    try:
        card = json.loads(response.content)
    except (ValueError, RecursionError):
        raise NoAgent(
            f"{address}{PATH} is not an agent card but {kind}; is this the address of an A2A server?"
        ) from None
    if not isinstance(card, dict):
        raise NoAgent(f"The agent card at {address} is not a JSON object.")
    return card


def read_card(card: Mapping[str, Any], address: str) -> PeerCard:
    """Parse a card of either protocol version. Raises NoAgent if a required field is missing or invalid."""
    try:
        identity = {name: value for name, value in card.items() if name not in _NOT_THE_AGENT}
        canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        text = json.dumps(card, ensure_ascii=False)
        capabilities = card.get("capabilities") or {}
        found = _interfaces(card, address)
        skills = tuple(
            one_line(skill if isinstance(skill, str) else str(skill.get("id") or skill.get("name") or "?"), 60)
            for skill in card.get("skills") or ()
        )
        streaming = capabilities.get("streaming") is True
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise NoAgent(f"The agent card at {address} does not have the structure of an A2A card.") from None
    if not isinstance(card.get("name"), str) or not card["name"].strip():
        raise NoAgent(f"The agent card at {address} has no name.")
    usable = [one for one in found if one.binding in _SUPPORTED and _is_address(one.url)]
    if not usable:
        offered = ", ".join(dict.fromkeys(one.described() for one in found)) or "none"
        raise NoAgent(
            f"The agent at {address} offers no supported interface (JSON-RPC or HTTP+JSON); it offers: {offered}."
        )
    best = min(usable, key=lambda one: (one.is_older, one.binding != "JSONRPC"))
    if urlsplit(address).scheme == "https" and urlsplit(best.url).scheme == "http":
        raise NoAgent(f"The agent card at {address} points to an unencrypted address ({one_line(best.url, 120)}).")
    return PeerCard(
        address,
        one_line(card["name"], 80),
        one_line(str(card.get("version") or ""), 40),
        one_line(str(card.get("description") or ""), 300),
        skills,
        streaming,
        best,
        hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest(),
        text,
    )


def _interfaces(card: Mapping[str, Any], address: str) -> list[Interface]:
    newer = [
        Interface(
            _absolute(one.get("url"), address),
            _binding(one.get("protocolBinding") or one.get("transport")),
            str(one.get("protocolVersion") or "1.0"),
            str(one.get("tenant") or ""),
        )
        for one in card.get("supportedInterfaces") or ()
    ]
    if newer:
        return newer
    version = str(card.get("protocolVersion") or "0.3.0")
    binding = _binding(card.get("preferredTransport"))
    others = [
        Interface(_absolute(one.get("url"), address), _binding(one.get("transport")), version)
        for one in card.get("additionalInterfaces") or ()
    ]
    return [Interface(_absolute(card.get("url"), address), binding, version), *others]


def _binding(name: object) -> str:
    text = str(name or "JSONRPC").upper()
    known = {"JSONRPC": "JSONRPC", "HTTPJSON": "HTTP+JSON", "REST": "HTTP+JSON"}
    return known.get(re.sub(r"[^A-Z]", "", text), text)


def _absolute(url: object, address: str) -> str:
    text = str(url or "").strip()
    if _HOST.match(text):
        text = f"//{text}"
    try:
        return text if "://" in text else urljoin(f"{address.rstrip('/')}/", text) if text else address
    except ValueError:
        return text


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False
