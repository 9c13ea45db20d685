"""Claims about the project's files, version, licence, required Python version, environment variables and URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from workbench.checking.blocks import Lookup
from workbench.claims import known
from workbench.claims.claim import CheckedClaim
from workbench.claims.declared import licence_families
from workbench.claims.shell import simple_commands
from workbench.claims.similarity import nearest, slip_of

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_CURRENT = re.compile(
    r"\b(?:current|latest|newest)(?:\s+stable)?\s+(?:version|release)(?:\s+is)?\s*:?\s*\**`?v?(\d+\.\d+(?:\.\d+)*)\b",
    re.I,
)
_LICENSED = re.compile(
    r"licen[sc]ed?\s+under|released?\s+under|distributed\s+under|available\s+under|^\W*licen[sc]e\s*:|\blicen[sc]e\b",
    re.I,
)
_NOT_OURS = re.compile(
    r"bundl|vendor|third|fonts?\b|\bdata\b|icon|logo|document|\bdocs\b|example|depend|originally|based on|differs?\b|compatib",
    re.I,
)
_FORMERLY = re.compile(
    r"\b(?:drop(?:s|ped)?|older|legacy|last|previous|earlier|up to|until|prior|instead|backport|before|deprecated|end|removed?|no longer|"
    r"only|available|added|since|was|were|branch(?:es)?|series|new in|tested|support(?:s|ed)? (?:was|for (?:python|\d))|if you|for python|on python|recommended)\b",
    re.I,
)
#: Matches a line about the oldest supported Python, or a short line such as a heading, a list entry or a badge.
_NEEDS = re.compile(
    r"\b(?:requires?|required|needs?|needed|support(?:s|ed)?|works? (?:with|on)|runs? on|minimum|prerequisite|dependenc(?:y|ies)|depends?)\b|^.{0,40}$",
    re.I,
)
_EMPTY_PREFIX = re.compile(
    rb"env_prefix|envvar_prefix|auto_envvar|environ_prefix|Dynaconf|dynaconf|environ\.Env|BaseSettings"
)


#: Python before a version, in any markup, such as ``**Python** 3.9``, ``Python: 3.9``, ``Python (3.9``,
#: ``python_requires = ">=3.9``.
_PYTHON = r"\b(?:c?python|py(?=\d))(?:[\s*_`:(=\"'v-]|\bversions?\b|requires\b)*"
_NUMBER = r"(?P<v>\d\.\d{1,2})\b(?!\.\d)"
_AT_LEAST = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        _PYTHON
        + r"(?:>=|≥)?\s*(?P<v>\d\.\d{1,2})\s*(?:\+|\(?(?:or|and)\s+(?:newer|later|higher|above|greater|up)\b|up\b)",
        _PYTHON + r"(?:>=|≥)\s*(?P<v>\d\.\d{1,2})\b",
        r"\b(?:requires?(?:\s+at\s+least)?|needs?\s+at\s+least|at\s+least)\s+" + _PYTHON + r"(?:>=|≥)?\s*" + _NUMBER,
        r"\b(?:requires-python|minimum\s+" + _PYTHON + r")[\s*_`:=\"'v]*(?:is\s+|>=|≥)?\s*" + _NUMBER,
    )
)


def _python_bound(row: str) -> tuple[str, tuple[int, ...]] | None:
    """Return the oldest Python that a line states, as written and as numbers.

    Return None if the line states no version or several.
    """
    found = {match["v"]: match[0] for pattern in _AT_LEAST for match in pattern.finditer(row)}
    if len(found) != 1 or len(set(re.findall(r"(?<![\d.])[23]\.\d{1,2}\b", row))) != 1:
        return None
    version, text = next(iter(found.items()))
    return text, tuple(int(part) for part in version.split("."))


class FactClaims(Lookup):
    """Claims on one page about facts of the project."""

    def all(self) -> Iterator[CheckedClaim]:
        yield from self._variables()
        yield from self._files()
        for first, written in self.page.prose:
            for offset, row in enumerate(written.split("\n")):
                yield from self._python(row, first + offset, written)
                yield from self._version(row, first + offset)
            yield from self._licence(written, first)

    # -- environment variables

    def _variables(self) -> Iterator[CheckedClaim]:
        found: list[tuple[int, str]] = [
            (span.line, name) for span in self.page.spans for name in [span.text.strip().lstrip("$").partition("=")[0]]
        ]
        for line, text in self.shell:
            found += [(line, name) for name in re.findall(r"(?:^|\bexport\s+|\s)([A-Z][A-Z0-9_]+)=", text)]
        for line, name in found:
            if not _VARIABLE.fullmatch(name) or known.is_placeholder(name):
                continue
            if self.project.occurs(name):
                yield self.true(line, "variable", name)
                continue
            prefix = name.split("_")[0]
            own = {
                re.split(r"[-_.]", one)[0].upper() for one in (self.project.declared.name, *self.project.modules) if one
            }
            quoted = {
                word.decode() for word in re.findall(rb"['\"]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)['\"]", self.project.code)
            }
            near = slip_of(name, quoted)
            made = _EMPTY_PREFIX.search(self.project.code) or re.search(
                rb"['\"{]" + prefix.encode() + rb"_['\"{]", self.project.code
            )
            if prefix in own and near and not made:
                yield self.untrue(line, "variable", name, f"nothing reads {name}", near, True)
            else:
                yield self.unknown(line, "variable", name, "it may belong to another program")

    # -- files and addresses

    def _files(self) -> Iterator[CheckedClaim]:
        for link in self.page.links:
            target = link.target
            if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", target) or target.startswith("//"):
                yield from self._address(target, link.line)
            elif target and not target.startswith("#") and "{" not in target:
                yield from self._link(target, link.line)
        for span in self.page.spans:
            text = span.text.strip().removeprefix("./")
            if "/" in text and known.FILE.fullmatch(text) and not known.is_placeholder(text):
                yield self._path(text, span.line)
        for line, text in self.shell:
            for words in simple_commands(text) or ():
                if (
                    re.fullmatch(r"python[\d.]*", words[0])
                    and len(words) > 1
                    and words[1].endswith(".py")
                    and "/" in words[1]
                ):
                    yield self._path(words[1].removeprefix("./"), line)

    def _address(self, target: str, line: int) -> Iterator[CheckedClaim]:
        scheme = target.partition(":")[0].lower()
        near = nearest(scheme, ("http", "https", "ftp"), 0.75)[0]
        if scheme not in ("http", "https", "ftp") and not target.startswith("//") and not near:
            return
        try:
            parts = urlsplit(target)
            host, _ = parts.hostname or "", parts.port
        except ValueError:
            yield self.untrue(line, "url", target, "it is not an address: its host or port cannot be read")
            return
        if parts.scheme in ("http", "https", "ftp", "") and re.fullmatch(
            r"localhost|\[?[0-9a-f.:]+\]?|(?:[\w-]+\.)+[\w-]{2,}", host, re.I
        ):
            yield self.true(line, "url", target, "by its form")
        elif parts.scheme not in ("http", "https", "ftp", ""):
            yield self.untrue(line, "url", target, f"{parts.scheme} is not a URL scheme", near, False)
        elif not host:
            yield self.untrue(line, "url", target, "it is not an address: it has no host")
        else:
            yield self.unknown(line, "url", target, f"{host} may be the reader's own host")

    def _link(self, target: str, line: int) -> Iterator[CheckedClaim]:
        path = unquote(re.split(r"[?#]", target)[0])
        if not path:
            return
        if re.match(r"(?:www\.|[\w-]+\.(?:com|org|io|net|dev)(?:/|$))", path):
            yield self.unknown(line, "url", target, "it has no scheme, so it leads to a file")
            return
        base = PurePosixPath(self.page.folder)
        found = _normal(path.lstrip("/") if path.startswith("/") else str(base / path))
        if found is None:
            yield self.unknown(line, "file", target, "it leads out of the repository")
            return
        if self._there(found):
            yield self.true(line, "file", target)
            return
        suffix = PurePosixPath(path).suffix.lower()
        of_site = str(base) != "." and suffix not in (".md", ".png", ".svg", ".jpg", ".gif", ".py")
        folder = str(PurePosixPath(found).parent)
        names = [name for name in self.project.files if str(PurePosixPath(name).parent) == folder]
        near, exact = nearest(found, names)
        if self.project.released or of_site or path.startswith("/"):
            why = "a source distribution may leave it out" if self.project.released else "it may be a page of a website"
            yield self.unknown(line, "file", target, why)
            return
        shown = PurePosixPath(path).with_name(PurePosixPath(near).name).as_posix() if near else ""
        yield self.untrue(line, "file", path, f"there is no file {found}", shown, exact)

    def _path(self, text: str, line: int) -> CheckedClaim:
        if self._there(text.rstrip("/")):
            return self.true(line, "file", text)
        folder = str(PurePosixPath(text).parent)
        if any(name.endswith(f"/{text}") for name in self.project.files):
            return self.true(line, "file", text, "below another folder")
        if folder in self.project.folders and not self.project.released:
            near = nearest(text, [name for name in self.project.files if str(PurePosixPath(name).parent) == folder])
            if near[0]:
                return self.untrue(line, "file", text, f"there is no file {text}", *near)
        return self.unknown(line, "file", text, "it may be the reader's own file")

    def _there(self, path: str) -> bool:
        return path in self.project.files or path in self.project.folders or (self.project.root / path).exists()

    # -- versions, Python, licence

    def _python(self, row: str, line: int, written: str) -> Iterator[CheckedClaim]:
        bound = _python_bound(row)
        if bound is None:
            return
        text, stated = bound
        real = self.project.oldest_python
        if real is None:
            yield self.unknown(line, "python", text, "the project does not say which versions of Python it supports")
        elif stated == real:
            yield self.true(line, "python", text)
        elif stated < real and self._says_oldest(real):
            yield self.unknown(line, "python", text, "the page states the oldest Python elsewhere")
        elif (
            (stated < real or stated > self.project.newest_python)
            and self._of_the_project(row)
            and not (_FORMERLY.search(_sentence_of(text, written, row)))
        ):
            shown, number = (".".join(map(str, one)) for one in (real, stated))
            near = text.replace(number, shown), True
            reason = f"the project requires Python {shown}" + (" or newer" if stated > real else "")
            yield self.untrue(line, "python", text, reason, *near)
        else:
            shown = ".".join(map(str, real))
            yield self.unknown(line, "python", text, f"the project requires Python {shown}")

    def _says_oldest(self, real: tuple[int, ...]) -> bool:
        """Return whether the page also states the real minimum version.

        Other versions on it then mean something else.
        """
        return any(
            (bound := _python_bound(part)) is not None and bound[1] == real
            for _, written in self.page.prose
            for part in re.split(r"\n|(?<=[.;,])\s", written)
        )

    def _of_the_project(self, row: str) -> bool:
        name = PurePosixPath(self.page.path).name.lower()
        own = [canonicalize_name(one) for one in (self.project.declared.name, *self.project.modules) if one]
        return bool(_NEEDS.search(row)) and (
            name.startswith(("readme", "index", "install", "require", "getting"))
            or any(re.search(rf"\b{re.escape(one)}\b", canonicalize_name(row)) for one in own)
        )

    def _version(self, row: str, line: int) -> Iterator[CheckedClaim]:
        if not (found := _CURRENT.search(row)):
            return
        stated, real = found[1], self.project.declared.version
        try:
            same, unset = Version(stated) == Version(real), Version(real) == Version("0")
        except InvalidVersion:
            same, unset = stated == real, real == "0"
        if same:
            yield self.true(line, "version", stated)
        elif real.startswith(f"{stated}."):
            yield self.unknown(line, "version", stated, f"the tree has version {real}, a release of {stated}")
        elif unset or Version(real).is_devrelease or re.search(r"\bpython\b|\bof\b", row, re.I):
            yield self.unknown(line, "version", stated, "the tree's version cannot be compared")
        else:
            yield self.untrue(line, "version", stated, f"the tree has version {real}", real, True)

    def _licence(self, written: str, line: int) -> Iterator[CheckedClaim]:
        if not _LICENSED.search(written) or len(written) > 600:
            return
        stated = licence_families(written)
        if len(stated) != 1:
            return
        name, real = next(iter(stated)), self.project.licences
        if len(real) != 1:
            yield self.unknown(line, "licence", name, "the project's licence cannot be read")
        elif real == stated:
            yield self.true(line, "licence", name)
        elif _NOT_OURS.search(written) or not self._licenses_itself(written) or not self.project.licence_files:
            yield self.unknown(line, "licence", name, "it may be the licence of something else")
        elif any(real & licence_families(other) for _, other in self.page.prose):
            yield self.unknown(line, "licence", name, f"the page also names {next(iter(real))}")
        else:
            yield self.untrue(line, "licence", name, f"the project is under {next(iter(real))}", next(iter(real)))

    def _licenses_itself(self, written: str) -> bool:
        """Return whether a sentence about a licence refers to the project.

        "the original tests are licensed under" does not.
        """
        own = "|".join(re.escape(one) for one in {self.project.declared.name, *self.project.modules} if one) or "\0"
        return (
            re.search(
                rf"(?:^|[.!*\]]\s*|[`\"_])(?:this|it|the|our)?\s*(?:{own}|this|it|code|project|software|package|library|source(?: code)?|module)\b"
                rf"[^.]{{0,40}}\b(?:licen[sc]ed|released|distributed|available|under|licen[sc]e)\b|^\W*licen[sc]e\b|/badge/licen[sc]e",
                written,
                re.I,
            )
            is not None
        )


def _sentence_of(text: str, written: str, row: str) -> str:
    """Return the sentence that contains a text and may begin on the line above, or the line itself if there is none."""
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z*-])", written)
    return next((one for one in sentences if text in one), row)


def _normal(path: str) -> str | None:
    """Return a relative path without ``.`` and ``..``, or None if it leads outside the repository."""
    found: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not found:
                return None
            found.pop()
        elif part not in ("", "."):
            found.append(part)
    return "/".join(found) or "."
