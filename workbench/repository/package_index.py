"""Download source distributions from the package index that pip is configured to use.

Pip runs a distribution's build code when it downloads one, so pip is used only for its configuration. This module reads
the index through its simple API (PEP 503, PEP 691), and checks the archive against the index's checksum and the pin.
``pypi-simple`` supports neither pip's configuration nor folders of files (``find-links``, ``file:``), and it does not
limit the size of pages or archives.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from workbench.base.disks import says_full
from workbench.repository.sources import ChecksumMismatch, SourceUnavailable, UnsafeArchive, reason, shown

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_SUFFIXES = (".tar.gz", ".tgz", ".zip", ".tar.bz2")
_MAX_PAGE_BYTES = 64_000_000

# Prints pip's effective options from its configuration files, PIP_* variables and defaults. If a virtual environment
# has no pip, the wheel that Python bundles for `ensurepip` is used.
_ASK_PIP = """
import json, sys
try:
    import pip
except ImportError:
    import ensurepip, pathlib
    bundled = pathlib.Path(ensurepip.__file__).parent / "_bundled"
    places = [bundled, pathlib.Path("/usr/share/python-wheels")]
    sys.path[:0] = [str(wheel) for place in places for wheel in place.glob("pip-*.whl")]
from pip._internal.commands import create_command
options, _ = create_command("download").parse_args([])
print(json.dumps({
    "indexes": [] if options.no_index else [options.index_url, *options.extra_index_urls],
    "find_links": options.find_links, "cert": options.cert, "proxy": options.proxy, "timeout": options.timeout,
}))
"""


@dataclass(frozen=True, slots=True)
class _Release:
    """A file listed by an index; the checksum is "" if the index does not state one."""

    filename: str
    url: str
    sha256: str


@dataclass(frozen=True, slots=True)
class _Pip:
    indexes: tuple[str, ...]
    find_links: tuple[str, ...]
    cert: str
    proxy: str
    timeout: float


def download(name: str, version: str, folder: Path, pin: str, largest: int, progress: Callable[[str], None]) -> Path:
    """Download the source distribution ``name==version`` into ``folder``.

    Raises:
        SourceUnavailable: No index has the distribution, or no index responds.
        ChecksumMismatch: The archive's checksum differs from that of the index or the pin.
        UnsafeArchive: The archive is larger than ``largest`` bytes.
    """
    label = f"{name}=={version}"
    pip = _configuration()
    problems: list[str] = []
    others: set[str] = set()
    for index in pip.indexes + pip.find_links:
        progress(f"Looking for {label}…")
        try:
            releases = list(_releases(pip, index, name, is_index=index in pip.indexes))
        except urllib.error.HTTPError as error:
            if error.code not in {404, 410}:
                problems.append(f"the index {_host(index)} answered {error.code}")
            continue
        except (OSError, ValueError) as error:
            problems.append(f"the index {_host(index)} cannot be reached: {_why(error)}")
            continue
        for release in releases:
            if (found := _version_of(release.filename, name)) is None:
                continue
            if _same_version(found, version):
                progress(f"Downloading {shown(release.filename)}…")
                return _download(pip, release, folder, pin, largest, label)
            others.add(found)
    if problems:
        raise SourceUnavailable(
            f"{label} could not be fetched ({'; '.join(problems)}); check the network, or use a folder or a local archive."
        )
    if others:
        near = ", ".join(sorted(others, key=_version_key)[-5:])
        raise SourceUnavailable(f"{label} has no source distribution; the newest versions that have one are {near}.")
    raise SourceUnavailable(f"The package index has no source distribution of '{name}'; check the name.")


def _configuration() -> _Pip:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _ASK_PIP], capture_output=True, text=True, timeout=60, check=True, env=environment
        )
        found = json.loads(answer.stdout)
        return _Pip(
            tuple(found["indexes"]),
            tuple(found["find_links"]),
            found["cert"] or "",
            found["proxy"] or "",
            min(float(found["timeout"]), 60.0),
        )
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        index = os.environ.get("PIP_INDEX_URL") or os.environ.get("UV_INDEX_URL")
        if not index:
            raise SourceUnavailable(
                "Pip, which configures the package index, is missing; install it or set PIP_INDEX_URL to the index's URL."
            ) from None
        return _Pip((index,), (), os.environ.get("PIP_CERT", ""), "", 15.0)


def _open(pip: _Pip, url: str, accept: str) -> IO[bytes]:
    """Open a URL as pip would: with its certificates and proxy, and the credentials in the URL."""
    parts = urlsplit(url)
    credentials = ""
    if parts.username is not None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    request = urllib.request.Request(url, headers={"Accept": accept, "User-Agent": "docs-workbench"})
    if credentials:
        # Credentials are not sent to another host that the index redirects to.
        request.add_unredirected_header("Authorization", "Basic " + b64encode(credentials.encode()).decode())
    handlers: list[urllib.request.BaseHandler] = []
    if parts.scheme == "https":
        import ssl

        handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=pip.cert or None)))
    if pip.proxy:
        proxy = pip.proxy if "://" in pip.proxy else f"http://{pip.proxy}"
        handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
    stream: IO[bytes] = urllib.request.build_opener(*handlers).open(request, timeout=pip.timeout)
    return stream


def _releases(pip: _Pip, index: str, name: str, *, is_index: bool) -> Iterator[_Release]:
    """Yield a distribution's files from an index page, or from a folder or page of links."""
    project = canonicalize_name(name)
    url = index if "://" in index else Path(index).expanduser().absolute().as_uri()
    if is_index:
        url = f"{url.rstrip('/')}/{project}/"
    if url.startswith("file:"):
        place = Path(unquote(urlsplit(url).path))
        if place.is_dir() and not (place / "index.html").is_file():
            yield from (_Release(file.name, file.as_uri(), "") for file in place.iterdir() if file.is_file())
            return
        page = place / "index.html" if place.is_dir() else place
        if page.is_file():
            yield from _from_html(page.read_text(encoding="utf-8", errors="replace"), page.as_uri())
        return
    with _open(pip, url, _ACCEPT) as answer:
        final = getattr(answer, "url", url)
        kind = answer.headers.get_content_type()  # type: ignore[attr-defined]  # an HTTP response has headers
        body = answer.read(_MAX_PAGE_BYTES + 1)
    if len(body) > _MAX_PAGE_BYTES:
        raise ValueError("its page is too large")
    if not kind.endswith("json"):
        yield from _from_html(body.decode("utf-8", "replace"), final)
        return
    page_data = json.loads(body)
    for file in page_data.get("files", []) if isinstance(page_data, dict) else []:
        yield _Release(
            str(file.get("filename", "")),
            urljoin(final, str(file.get("url", ""))),
            str((file.get("hashes") or {}).get("sha256", "")),
        )


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for key, value in attrs if tag == "a" and key == "href" and value]


def _from_html(page: str, base: str) -> Iterator[_Release]:
    links = _Links()
    links.feed(page)
    for address in links.addresses:
        url, fragment = urldefrag(urljoin(base, address))
        match = re.search(r"sha256=([0-9a-f]{64})", fragment)
        yield _Release(unquote(urlsplit(url).path.rpartition("/")[2]), url, match.group(1) if match else "")


def _download(pip: _Pip, release: _Release, folder: Path, pin: str, largest: int, label: str) -> Path:
    # The index supplies the name, so only its suffix is used.
    file = folder / ("archive" + next(end for end in _SUFFIXES if release.filename.endswith(end)))
    if release.sha256 and pin and release.sha256 != pin:
        raise ChecksumMismatch(
            f"{label} was refused: its SHA-256 in the index is {release.sha256[:12]}…, but {pin[:12]}… is pinned."
        )
    if urlsplit(release.url).scheme not in {"https", "http", "file"}:
        raise SourceUnavailable(f"{label} was not fetched: the index has a URL that is neither http, https nor file.")
    digest = hashlib.sha256()
    size = 0
    try:
        with _open(pip, release.url, "*/*") as answer, file.open("wb") as out:
            while piece := answer.read(1 << 18):
                size += len(piece)
                if size > largest:
                    raise UnsafeArchive(f"{label} was refused: it is larger than {largest // 1_000_000:,} MB.")
                digest.update(piece)
                out.write(piece)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and says_full(error):
            raise  # The cause is local, not the network.
        raise SourceUnavailable(
            f"{label} could not be downloaded ({_why(error)}); check the network and try again."
        ) from None
    for expected, origin in ((release.sha256, "is in the index"), (pin, "is pinned")):
        if expected and digest.hexdigest() != expected:
            raise ChecksumMismatch(
                f"{label} was refused: the SHA-256 of the download is {digest.hexdigest()[:12]}…, but {expected[:12]}… "
                f"{origin}."
            )
    return file


def _version_of(filename: str, name: str) -> str | None:
    """Return the version from the file name of an sdist of ``name``, or None if the file is not one.

    Before PEP 625, both names and versions could contain dashes, so any dash may be the separator.
    """
    ending = next((ending for ending in _SUFFIXES if filename.endswith(ending)), None)
    if ending is None:
        return None
    parts = filename.removesuffix(ending).split("-")
    for place in range(1, len(parts)):
        version = "-".join(parts[place:])
        if canonicalize_name("-".join(parts[:place])) == canonicalize_name(name) and version[:1].isalnum():
            return version
    return None


def _parsed(version: str) -> Version | None:
    """Return a version parsed as in PEP 440, or None if it is invalid (as in some files from before 2014)."""
    try:
        return Version(version)
    except InvalidVersion:
        return None


def _same_version(one: str, other: str) -> bool:
    first, second = _parsed(one), _parsed(other)
    return one == other if first is None or second is None else first == second


def _version_key(version: str) -> tuple[bool, Version, str]:
    parsed = _parsed(version)
    return (parsed is not None, parsed or Version("0"), version)


def _host(index: str) -> str:
    # The URL of an index may contain a user name and password.
    return shown(urlsplit(index).netloc.rpartition("@")[2] or "on this machine", 60)


def _why(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return "no answer in time"
    return reason(inner) if isinstance(inner, OSError) else shown(str(inner), 80)
