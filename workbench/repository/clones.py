"""Fetch one commit of a git repository, and read it from git's object store through GitPython.

Nothing is checked out. No hook, filter, submodule or attribute of the foreign repository takes effect, and every path
passes the same checks as an archive's.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from workbench.base.disks import is_full, says_full
from workbench.repository.sources import FetchError, Source, SourceUnavailable, no_room, shown
from workbench.repository.store import ResolvedSource, Snapshot, Store, require_digest
from workbench.repository.tree import SnapshotLimits, SnapshotTree, TreeBuilder

_SECONDS = 300
# If a firewall drops packets, a connection takes minutes to fail, although another source may be available.
_ANSWER_SECONDS = 30
_FULL_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PART_OF_HASH = re.compile(r"[0-9a-f]{4,39}")
# Git must never prompt: nobody could answer, and the app controls the terminal.
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
#: Patterns in git's error messages, and the problem with the source that each indicates.
_PROBLEMS = (
    (r"does not appear to be a git repository|not a git repository", "is not a git repository; check the address"),
    (
        r"Authentication failed|could not read (Username|Password)|Permission denied|terminal prompts",
        "does not exist or asks for credentials; check the address, or set up git's credential helper",
    ),
    ("dubious ownership", "belongs to another user; add it to git's safe.directory to trust it"),
    (r"(?is)\A(?!.*(?-i:resolve)).*(?:not found|404)", "was not found; check the address"),
)
_SETTINGS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", "maintenance.auto=false")


def fetch_revision(
    source: Source, store: Store, limits: SnapshotLimits, pin: str, progress: Callable[[str], None]
) -> Snapshot:
    local = source.location.startswith("file://")
    known = store.recall(str(source))
    if known is not None and (not local or _FULL_HASH.fullmatch(source.revision)):
        snapshot = store.load(known)
        if snapshot is not None:
            return require_digest(snapshot, pin)
    with store.workspace() as workspace:
        git = _Git(workspace / "objects.git", source, local)
        if local and known is not None and git.remote_commit() == known.revision:
            # A local branch's current commit can be checked without using the network.
            snapshot = store.load(known)
            if snapshot is not None:
                return require_digest(snapshot, pin)
        progress(f"Fetching {shown(str(source))}…")
        if not local:
            git.require_answer()
        commit = git.fetch()
        tree = _write(git, commit, workspace / "tree", limits, progress)
        found = ResolvedSource(str(source), tree.digest, commit, "", time.time())
        return require_digest(store.publish(workspace, tree, found), pin)


class _Git:
    def __init__(self, folder: Path, source: Source, local: bool) -> None:
        try:
            import git
        except ImportError:
            # GitPython looks for the git executable on import.
            raise SourceUnavailable(
                "The program 'git' is missing; install it, or use a folder or a pinned source distribution."
            ) from None
        self.folder = folder
        self.source = source
        self._errors: tuple[type[Exception], ...] = (git.GitCommandError, git.GitCommandNotFound)
        self._program = git.Git(folder.parent)
        self._environment = _ENVIRONMENT | {"GIT_ALLOW_PROTOCOL": "file" if local else "http:https:ssh"}
        if "GIT_SSH_COMMAND" not in os.environ and "GIT_SSH" not in os.environ:
            self._environment["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes -o ConnectTimeout=20"
        self._address = source.location
        if local:
            path = unquote(urlsplit(source.location).path)
            if not Path(path).is_dir():
                raise SourceUnavailable(f"There is no git repository in {shown(path)}; check the path.")
            self._address = path
        try:
            self._program.execute(
                ["git", "init", "--quiet", "--bare", "--template=", str(folder)], env=self._environment
            )
        except self._errors as error:
            raise self._error_for(error) from None

    def run(self, *arguments: str, seconds: int = _SECONDS) -> str:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        command = ["git", *settings, f"--git-dir={self.folder}", *arguments]
        began = time.monotonic()
        try:
            return str(self._program.execute(command, env=self._environment, kill_after_timeout=seconds)).strip()
        except self._errors as error:
            # GitPython's watchdog first kills git and then records the timeout, which on a busy machine happens after
            # the error.
            if time.monotonic() - began >= seconds and hasattr(error, "stderr"):
                error.stderr = "Timeout"
            raise

    def remote_commit(self) -> str:
        """Return the commit that the revision currently points to in the source, or "" if unknown."""
        wanted = self.source.revision or "HEAD"
        try:
            lines = self.run("ls-remote", "--", self._address, wanted, f"{wanted}^{{}}").splitlines()
        except self._errors:
            return ""
        names = {name: commit for commit, _, name in (line.partition("\t") for line in lines)}
        for name in (f"refs/tags/{wanted}^{{}}", f"refs/tags/{wanted}", f"refs/heads/{wanted}", wanted):
            if name in names:
                return names[name]
        return ""

    def require_answer(self) -> None:
        """Raise unless the remote answers within `_ANSWER_SECONDS`."""
        try:
            self.run("ls-remote", "--quiet", "--", self._address, "HEAD", seconds=_ANSWER_SECONDS)
        except self._errors as error:
            raise self._error_for(error, _ANSWER_SECONDS) from None

    def fetch(self) -> str:
        """Fetch only the revision if the remote supports that, and return its commit."""
        wanted = self.source.revision or "HEAD"
        hexadecimal = _PART_OF_HASH.fullmatch(wanted) or _FULL_HASH.fullmatch(wanted)
        alone = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
        try:
            try:
                self.run(*alone, "--depth=1", "--", self._address, wanted)
            except self._errors as error:
                # A dumb HTTP server does not support shallow clones.
                if "shallow" not in str(error):
                    raise
                self.run(*alone, "--", self._address, wanted)
            return self.run("rev-parse", "--verify", "FETCH_HEAD^{commit}")
        except self._errors as error:
            if not hexadecimal:
                raise self._error_for(error) from None
        try:
            # For an abbreviated commit, or a server that does not serve individual commits, fetch the whole history.
            both = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
            self.run("fetch", "--quiet", "--no-recurse-submodules", "--", self._address, *both)
            return self.run("rev-parse", "--verify", f"{wanted}^{{commit}}")
        except self._errors as error:
            raise self._error_for(error) from None

    def _error_for(self, error: Exception, seconds: int = _SECONDS) -> FetchError:
        stderr = str(getattr(error, "stderr", "") or error)
        if says_full(stderr) or ("writ" in stderr and is_full(self.folder.parent)):
            return no_room(self.folder.parent.parent)
        location = shown(self.source.location)
        if "Timeout" in stderr:
            return SourceUnavailable(
                f"{location} did not answer within {seconds} seconds; check the network, or use a folder."
            )
        if re.search(r"couldn't find remote ref|Needed a single revision|not our ref|unknown revision", stderr):
            what = f"branch, tag or commit '{shown(self.source.revision)}'" if self.source.revision else "commit yet"
            return SourceUnavailable(f"{location} has no {what}; check the name after the @.")
        for pattern, problem in _PROBLEMS:
            if re.search(pattern, stderr):
                return SourceUnavailable(f"{location} {problem}.")
        messages = re.sub(r"^\s*stderr:\s*'?", "", stderr).splitlines()
        lines = [line for line in messages if "fatal:" in line or "error:" in line]
        detail = shown(lines[-1].split("fatal:")[-1].strip(" '"), 160) if lines else "no reason given"
        return SourceUnavailable(f"{location} cannot be reached ({detail}); check the network, or use a folder.")


def _write(git: _Git, commit: str, root: Path, limits: SnapshotLimits, progress: Callable[[str], None]) -> SnapshotTree:
    from git import Repo
    from git.db import GitCmdObjectDB

    def leave_out(path: str, target: str) -> None:
        progress(f"Left out the link '{shown(path)}': it leads out of the repository, to '{shown(target)}'.")

    builder = TreeBuilder(root, f"The repository {shown(git.source.location)}", leave_out, limits)
    repository = Repo(git.folder, odbt=GitCmdObjectDB)
    try:
        for blob in _blobs(repository.commit(commit).tree):
            builder.announce(int(blob.size))
            stream = blob.data_stream
            if blob.mode == blob.link_mode:
                builder.add_link(str(blob.path), stream.read().decode("utf-8", "surrogateescape"))
            else:
                pieces = iter(partial(stream.read, 1 << 20), b"")
                builder.add_file(str(blob.path), pieces, executable=blob.mode == blob.executable_mode)
        return builder.finish()
    except (ValueError, KeyError, AssertionError) as error:
        raise FetchError(f"The repository {shown(git.source.location)} is damaged ({shown(str(error), 80)}).") from None
    finally:
        repository.close()


def _blobs(tree: Any) -> Iterator[Any]:
    pending = [tree]
    while pending:
        for item in pending.pop():
            if item.type == "tree":
                pending.append(item)
            elif item.type == "blob":  # Submodules are separate repositories, so they are left out.
                yield item
