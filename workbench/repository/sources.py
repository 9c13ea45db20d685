"""Parse repository sources (a folder, an archive, a git URL, a pinned source distribution), and define their errors.

Parsing rejects everything dangerous: transports that run programs, disguised command-line options, and credentials that
would end up in a session file. Fetching can therefore trust a `Source`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import one_line


class BadSource(UsageError):
    """The text is not a folder, git URL or pinned source distribution, or its form is not allowed."""


class FetchError(WorkbenchError):
    """A source could not be turned into a snapshot."""


class SourceUnavailable(FetchError):
    """The source cannot be reached: the folder, revision or release does not exist, or there is no network."""


class ChecksumMismatch(FetchError):
    """The content does not have the pinned checksum."""


class UnsafeArchive(FetchError):
    """An archive (or tree) would write outside its folder, contains devices, or is too large."""


def no_room(folder: Path) -> FetchError:
    return FetchError(
        f"The disk is full: there is no room in the cache folder {folder}; free some space or set WORKBENCH_CACHE_DIR to "
        "another folder."
    )


def shown(text: str, width: int = 120) -> str:
    """Return untrusted ``text`` sanitised for one line of a message: no control sequences, no lone surrogates."""
    return one_line(text.encode("utf-8", "backslashreplace").decode("utf-8"), width)


def reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()


Kind = Literal["folder", "archive", "git", "sdist"]

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar", ".zip")

_SHA256 = re.compile(r"[0-9a-f]{64}")
_PINNED = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*==\s*([A-Za-z0-9][A-Za-z0-9.!+_-]*)")
_NAME_ONLY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Stricter than git's own rules, so that a revision can never be an option, a range or a refspec.
_REVISION = re.compile(r"(?!.*\.\.)(?!.*//)[A-Za-z0-9_][A-Za-z0-9._/+-]*")
_SCP = re.compile(r"([A-Za-z0-9_][\w.-]*@)?([A-Za-z0-9][\w.-]*):(?!/)([\w~./+-]+?)(?:@([^@]+))?")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.-]*)(?:\+([a-z]+))?://")


@dataclass(frozen=True, slots=True)
class Source:
    """A repository to work on; ``parse_source(str(source)) == source``."""

    kind: Kind
    location: str  # absolute path, git URL, or name of the distribution
    revision: str = ""  # git branch, tag or commit ("" for the default branch), or version
    sha256: str = ""  # expected checksum of the archive (64 lower-case hex digits), or ""

    def __str__(self) -> str:
        pin = f"#sha256={self.sha256}" if self.sha256 else ""
        if self.kind == "sdist":
            return f"{self.location}=={self.revision}{pin}"
        if self.kind == "git":
            scheme = "git+" if "://" in self.location else ""
            return f"{scheme}{self.location}" + (f"@{self.revision}" if self.revision else "")
        return f"{self.kind}:{self.location}{pin}" if self._needs_prefix else f"{self.location}{pin}"

    @property
    def _needs_prefix(self) -> bool:
        # A path that would be parsed as something else gets its kind as a prefix.
        archive = self.location.lower().endswith(ARCHIVE_SUFFIXES)
        odd = "@" in self.location or "#" in self.location or self.location.endswith(".git")
        return odd or self.location != self.location.strip() or archive != (self.kind == "archive")

    @property
    def name(self) -> str:
        """A short name for lists: the last part of the path or URL, or the distribution's name."""
        if self.kind == "sdist":
            return self.location
        last = unquote(self.location.rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1])
        if self.kind == "git" and last == ".git":
            last = unquote(self.location.rstrip("/").rsplit("/", 2)[-2])
        for suffix in (*ARCHIVE_SUFFIXES, ".git"):
            if last.lower().endswith(suffix) and len(last) > len(suffix):
                return last[: -len(suffix)]
        return last or "repository"


def parse_source(text: str) -> Source:
    """Parse a user's description of a repository source.

    A source is a folder (``~`` is expanded), an archive file, a git URL such as ``https://host/project.git@REVISION``,
    or ``NAME==VERSION`` with an optional ``#sha256=…``. A git URL may also be prefixed with ``git+``, or be ``ssh://``,
    ``user@host:path``, ``git+file://``, a local ``.git`` path or ``FOLDER@REVISION``. Raises BadSource, with the
    reason, for anything else.
    """
    text = text.strip() if not text.startswith(("folder:", "archive:")) else text
    if not text:
        raise BadSource("The repository is missing: name a folder, a git URL or NAME==VERSION.")
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise BadSource(f"'{shown(text)}' contains control characters and cannot be a repository; remove them.")
    if text.startswith("-"):
        raise BadSource(
            f"'{shown(text)}' looks like an option, not like a repository; write ./ before a folder's name."
        )
    for kind in ("folder", "archive"):
        if text.startswith(f"{kind}:/"):
            body, sha256 = _split_pin(text[len(kind) + 1 :]) if kind == "archive" else (text[len(kind) + 1 :], "")
            return Source(kind, body, sha256=sha256)
    if re.match(r"[A-Za-z0-9+.-]+::", text):
        raise BadSource(f"'{shown(text)}' uses a git transport that runs programs; use an https, ssh or file URL.")
    if match := _SCHEME.match(text):
        return _url(text, match.group(1).lower())
    body, sha256 = _split_pin(text)
    if match := _PINNED.fullmatch(body):
        return Source("sdist", match.group(1), match.group(2), sha256)
    return _local(text) or _scp(text) or _refuse(text)


def checked_sha256(text: str) -> str:
    digits = text.strip().lower().removeprefix("sha256:")
    if not _SHA256.fullmatch(digits):
        raise BadSource(f"'{shown(text)}' is not a SHA-256 checksum: 64 hexadecimal digits are expected.")
    return digits


def _split_pin(text: str) -> tuple[str, str]:
    body, mark, pin = text.rpartition("#sha256=")
    return (body.rstrip(), checked_sha256(pin)) if mark else (text, "")


def _checked_revision(revision: str, text: str) -> str:
    if not _REVISION.fullmatch(revision) or revision.endswith(("/", ".lock", ".")):
        raise BadSource(f"'{shown(revision)}' in '{shown(text)}' is not a branch, tag or commit.")
    return revision


def _split_revision(path: str, text: str) -> tuple[str, str]:
    before, mark, revision = path.rpartition("@")
    # A path such as /@user/project.git itself contains an @.
    if not mark or revision.endswith(".git") or before.endswith("/") or not before:
        return path, ""
    return before, _checked_revision(revision, text)


def _url(text: str, scheme: str) -> Source:
    plain = text[4:] if text.lower().startswith("git+") else text
    scheme = scheme.removeprefix("git+") if "+" in scheme else scheme
    parts = urlsplit(plain)
    scheme = parts.scheme.lower()
    if scheme not in {"http", "https", "ssh", "file"}:
        raise BadSource(f"'{shown(text)}' uses '{shown(scheme)}'; a git URL must start with https, http, ssh or file.")
    if parts.query or parts.fragment:
        raise BadSource(f"'{shown(text)}' has a query or fragment, which a git URL cannot have.")
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadSource(f"'{shown(text)}' is not a complete URL.") from None
    if scheme == "file":
        if host not in {"", "localhost"}:
            raise BadSource(f"'{shown(text)}' names a file on another machine; use https or ssh.")
        path, revision = _split_revision(parts.path, text)
        return Source("git", "file://" + quote(unquote(path)), revision)
    if not host or host.startswith("-") or not parts.path.strip("/") or re.search(r"[\s\\]", plain):
        raise BadSource(f"'{shown(text)}' is not a complete URL.")
    if parts.password is not None or (parts.username is not None and scheme != "ssh"):
        at = f"{scheme}://{host}{parts.path}"
        raise BadSource(
            f"'{shown(at)}' contains a user name or password; put them into git's credential helper instead, so that they "
            "are stored nowhere else."
        )
    if parts.username is not None and not re.fullmatch(r"[A-Za-z0-9_][\w.-]*", parts.username):
        raise BadSource(f"'{shown(text)}' is not a complete URL.")
    path, revision = _split_revision(parts.path, text)
    user = f"{parts.username}@" if parts.username else ""
    shown_host = f"[{host}]" if ":" in host else host
    return Source("git", f"{scheme}://{user}{shown_host}" + (f":{port}" if port else "") + path, revision)


def _local(text: str) -> Source | None:
    def absolute(part: str) -> Path:
        # Symbolic links are resolved when the folder is read, not here.
        return Path(part).expanduser().absolute()

    try:
        path = absolute(text)
        exists = path.exists()
    except (OSError, RuntimeError, ValueError):
        return None
    if exists:
        if text.rstrip("/").endswith(".git") and (path / "HEAD").is_file():
            return Source("git", "file://" + quote(str(path)))
        if path.is_file() and not path.name.lower().endswith(ARCHIVE_SUFFIXES):
            raise BadSource(f"'{shown(text)}' is a single file; a repository is a folder or a .tar.gz or .zip archive.")
        if not path.is_file() and not path.is_dir():
            raise BadSource(f"'{shown(text)}' is a pipe, socket or device; a repository is a folder or an archive.")
        return Source("folder" if path.is_dir() else "archive", str(path))
    if "#sha256=" in text:
        body, sha256 = _split_pin(text)
        return Source("archive", str(absolute(body)), sha256=sha256)
    before, mark, revision = text.rpartition("@")
    if mark and before and absolute(before).is_dir():
        return Source("git", "file://" + quote(str(absolute(before))), _checked_revision(revision, text))
    if text.startswith(("/", "./", "../", "~")) or text in {".", ".."}:
        kind: Kind = "archive" if text.lower().endswith(ARCHIVE_SUFFIXES) else "folder"
        if text.rstrip("/").endswith(".git"):
            return Source("git", "file://" + quote(str(path)))
        return Source(kind, str(path))
    return None


def _scp(text: str) -> Source | None:
    match = _SCP.fullmatch(text)
    if match is None or match.group(3).startswith("-"):
        return None
    user, host, path, revision = match.groups()
    return Source("git", f"{user or ''}{host}:{path}", _checked_revision(revision, text) if revision else "")


def _refuse(text: str) -> Source:
    if _NAME_ONLY.fullmatch(text):
        raise BadSource(
            f"There is no folder '{shown(text)}'; to fetch a source distribution, pin its version: {shown(text)}==VERSION."
        )
    raise BadSource(f"'{shown(text)}' is not an existing folder, a git URL or a pinned distribution (NAME==VERSION).")
