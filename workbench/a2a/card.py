"""The card of an agent: fetched within limits, read in the form of either version, and what of it identifies the agent."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from workbench.a2a.credentials import headers_by_origin
from workbench.a2a.http import Limit, client_for
from workbench.a2a.problems import NoAgent, problem_of
from workbench.agents.remote_names import PEER_MODEL
from workbench.text import one_line

PLACE = "/.well-known/agent-card.json"
_OLDER_PLACE = "/.well-known/agent.json"  # protocol 0.2; some 0.3 servers have nothing else
MOST_BYTES = 1_000_000
SECONDS = 20.0
# What a card says of addresses and signatures changes from server to server and says nothing of the agent.
_NOT_THE_AGENT = ("url", "additionalInterfaces", "supportedInterfaces", "signatures")


@dataclass(frozen=True, slots=True)
class Interface:
    """A way to reach an agent: address, ``JSONRPC`` or ``HTTP+JSON``, version of the protocol, tenant."""

    url: str
    binding: str
    version: str
    tenant: str = ""

    @property
    def is_older(self) -> bool:
        """Whether it speaks 0.3 or an older version."""
        return self.version.partition(".")[0] in ("", "0")

    def words(self) -> str:
        """Return ``A2A 1.0 over JSON-RPC``."""
        return f"A2A {self.version or '0.3'} over {'JSON-RPC' if self.binding == 'JSONRPC' else self.binding}"


@dataclass(frozen=True, slots=True)
class PeerCard:
    """What an agent says of itself.

    Attributes:
        address: Where the card was read.
        name: Its name, one line.
        version: Its own version, one line.
        description: One line.
        skills: Ids of its skills.
        streaming: Whether it sends events while it works.
        interface: The way that is used: the newest version, JSON-RPC before HTTP+JSON.
        digest: SHA-256 of the card without addresses and signatures.
        text: The card as JSON.
    """

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
        """Return what stands for the agent as the model of its trials: ``a2a/NAME@VERSION#DIGEST``."""
        name, version = (re.sub(r"[^\w.+-]+", "_", part)[:60].strip("_") for part in (self.name, self.version))
        return f"{PEER_MODEL}{name or 'agent'}@{version or '?'}#{self.digest[:8]}"

    def words(self) -> str:
        """Return name, version, skills and protocol in one line for a person."""
        how = "streaming" if self.streaming else "no streaming"
        skills = f" · skills {', '.join(self.skills[:6])}" if self.skills else ""
        return f"{self.name} {self.version} · {self.interface.words()}, {how}{skills}"


async def fetch_card(address: str, headers: Mapping[str, Mapping[str, str]] | None = None) -> PeerCard:
    """Return the card of the agent at an address.

    Args:
        address: ``http(s)://HOST:PORT``, with a path where the server has one.
        headers: Credentials by origin; the environment's unless given.

    Raises:
        ModelError: Nobody is there, or what is there has no card that can be used; the sentence says which.
    """
    given = headers_by_origin() if headers is None else headers
    try:
        async with asyncio.timeout(SECONDS), client_for(Limit(MOST_BYTES), given) as client:
            response = await client.get(address.rstrip("/") + PLACE)
            if response.status_code == 404:
                response = await client.get(address.rstrip("/") + _OLDER_PLACE)
    except TimeoutError:
        raise NoAgent(f"The agent at {address} did not send its card within {SECONDS:g} s.") from None
    except (httpx.HTTPError, OSError) as error:
        raise problem_of(error, address) from error
    return read_card(_decoded(response, address), address)


def _decoded(response: httpx.Response, address: str) -> Mapping[str, Any]:
    kind = one_line(response.headers.get("content-type", "no type").partition(";")[0], 60)
    if response.status_code == 404:
        raise NoAgent(f"There is no agent card at {address}{PLACE}; is this the address of an A2A server?")
    if response.status_code != 200:
        raise problem_of(httpx.HTTPStatusError("", request=response.request, response=response), address)
    try:
        card = json.loads(response.content)
    except (ValueError, RecursionError):
        raise NoAgent(f"{address}{PLACE} is no agent card but {kind}; is this the address of an A2A server?") from None
    if not isinstance(card, dict):
        raise NoAgent(f"The agent card at {address} is no JSON object.")
    return card


def read_card(card: Mapping[str, Any], address: str) -> PeerCard:
    """Return a card of either version of the protocol.

    Raises:
        NoAgent: It lacks what a card must have, or names no way that is spoken here.
    """
    try:
        kept = {name: value for name, value in card.items() if name not in _NOT_THE_AGENT}
        canonical = json.dumps(kept, sort_keys=True, separators=(",", ":"))
        text = json.dumps(card, ensure_ascii=False)
        capabilities = card.get("capabilities") or {}
        found = _interfaces(card)
        skills = tuple(one_line(str(skill["id"]), 60) for skill in card.get("skills") or ())
        streaming = capabilities.get("streaming") is True
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise NoAgent(f"The agent card at {address} is not built as A2A has it.") from None
    if not isinstance(card.get("name"), str) or not card["name"].strip():
        raise NoAgent(f"The agent card at {address} has no name.")
    spoken = [one for one in found if one.binding in ("JSONRPC", "HTTP+JSON") and _is_address(one.url)]
    if not spoken:
        ways = ", ".join(dict.fromkeys(one_line(one.binding, 30) for one in found)) or "none"
        raise NoAgent(
            f"The agent at {address} offers no way that is spoken here (JSON-RPC or HTTP+JSON); it has: {ways}."
        )
    best = min(spoken, key=lambda one: (one.is_older, one.binding != "JSONRPC"))
    if urlsplit(address).scheme == "https" and urlsplit(best.url).scheme == "http":
        raise NoAgent(
            f"The agent card at {address} leads to an address without encryption ({one_line(best.url, 120)})."
        )
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


def _interfaces(card: Mapping[str, Any]) -> list[Interface]:
    """Return every way that a card names: in the list of 1.x, or in the fields of 0.3."""
    newer = [
        Interface(
            str(one["url"]),
            str(one["protocolBinding"]),
            str(one.get("protocolVersion") or "1.0"),
            str(one.get("tenant") or ""),
        )
        for one in card.get("supportedInterfaces") or ()
    ]
    if newer or not card.get("url"):
        return newer
    version = str(card.get("protocolVersion") or "0.3.0")
    first = Interface(str(card["url"]), str(card.get("preferredTransport") or "JSONRPC"), version)
    others = [
        Interface(str(one["url"]), str(one["transport"]), version) for one in card.get("additionalInterfaces") or ()
    ]
    return [first, *others]


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False
