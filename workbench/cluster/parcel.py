"""All that a worker needs for testing candidates of one repository, packed to be sent once."""

from __future__ import annotations

import gzip
import hashlib
import io
import stat
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from workbench import paths, sandbox
from workbench.cluster.address import ClusterError
from workbench.regeneration.environment import Environment, build_environment, installed_in
from workbench.repository import Snapshot
from workbench.repository.archives import unpack
from workbench.repository.store import Known, Store
from workbench.repository.tree import Limits as TreeLimits
from workbench.sandbox import Limits, Workspace

# The archive holds one folder, which unpacking takes away again.
_TOP = "tree"
# A tar's time stamps say nothing here, and the same tree must give the same bytes.
_NO_TIME = 0


@dataclass(frozen=True, slots=True)
class Parcel:
    """One repository with its environment, for workers that have neither.

    Attributes:
        name: What the repository is called.
        snapshot: Digest of its content.
        archive: Its files, a gzipped tar.
        environment: Digest of the environment that it is tested in here.
        install: The case's own install commands, of which that environment was made.
        test: The case's own test commands.
        installed: ``name==version`` of everything in that environment.
        workspace: How its tests are run; folders in it are those of this machine.
        sandbox: The back end wanted; a worker that lacks it takes its strongest one that isolates.
        limits: What one sandbox may use.
        runner: Digest of the program that gives the verdicts.
    """

    name: str
    snapshot: str
    archive: bytes
    environment: str
    install: tuple[str, ...]
    test: tuple[str, ...]
    installed: tuple[str, ...]
    workspace: Workspace
    sandbox: str
    limits: Limits
    runner: str

    @property
    def key(self) -> str:
        """Identity of the sandboxes that it leads to (32 hex digits)."""
        parts = (self.snapshot, self.environment, self.installed, self.workspace, self.sandbox, self.limits)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def pack(
    name: str,
    snapshot: Snapshot,
    environment: Environment,
    *,
    install: tuple[str, ...],
    test: tuple[str, ...],
    backend: str,
    limits: Limits,
) -> Parcel:
    """Pack a repository that is ready here."""
    return Parcel(
        name=name,
        snapshot=snapshot.digest,
        archive=_archive(snapshot),
        environment=environment.digest,
        install=install,
        test=test,
        installed=environment.installed,
        workspace=environment.workspace,
        sandbox=backend,
        limits=limits,
        runner=runner_digest(),
    )


def _archive(snapshot: Snapshot) -> bytes:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=_NO_TIME) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for entry in snapshot.files:
            path = snapshot.root / entry.path
            member = tarfile.TarInfo(f"{_TOP}/{entry.path}")
            if path.is_symlink():
                member.type, member.linkname = tarfile.SYMTYPE, str(path.readlink())
                archive.addfile(member)
                continue
            content = path.read_bytes()
            member.size = len(content)
            member.mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def unpacked(parcel: Parcel) -> Snapshot:
    """Return the repository on this machine: out of the cache, or unpacked into it.

    Raises:
        FetchError: The cache cannot be written.
        ClusterError: What arrived is not what was sent.
    """
    store = Store(paths.cache_dir().absolute())
    known = Known(f"cluster:{parcel.snapshot}", parcel.snapshot, "", "", time.time())
    kept = store.load(known)
    if kept is not None:
        return kept
    with store.workspace() as workspace, tempfile.NamedTemporaryFile(suffix=".tar.gz") as file:
        file.write(parcel.archive)
        file.flush()
        tree = unpack(Path(file.name), workspace / "tree", TreeLimits())
        if tree.digest != parcel.snapshot:
            raise ClusterError(f"The files of {parcel.name} arrived changed; start the run again.")
        return store.publish(workspace, tree, known)


async def workspace_of(parcel: Parcel) -> Workspace:
    """Return the repository and its environment on this machine, both built if they are not there yet.

    The environment gets exactly the versions that the sender has: another version may give another verdict.

    Raises:
        WorkbenchError: Something cannot be built; the sentence says what.
    """
    import asyncio

    if parcel.runner != runner_digest():
        raise ClusterError("the Workbench there gives verdicts by other rules; install the same version on both sides")
    snapshot = await asyncio.to_thread(unpacked, parcel)
    install = parcel.install
    if installed_in(parcel.environment) != parcel.installed:
        pinned = [line for line in parcel.installed if not line.startswith(("pip==", "uv=="))]
        install = ("pip install " + " ".join(pinned),)
    environment = await build_environment(snapshot.root, install=install, test=parcel.test)
    here = environment.workspace
    return replace(parcel.workspace, root=here.root, python=here.python, mounts=here.mounts, metadata=here.metadata)


@cache
def runner_digest() -> str:
    """Return the identity of what decides about verdicts: the runner's source and Python's version."""
    whole = hashlib.sha256(".".join(map(str, sys.version_info[:2])).encode())
    folder = Path(sandbox.__file__).parent / "workbench_runner"
    for path in sorted(folder.glob("*.py")):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()
