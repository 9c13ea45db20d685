"""Everything that a worker needs to test candidates of one repository, packed to be sent once."""

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

from workbench import sandbox
from workbench.base import paths
from workbench.cluster.address import ClusterError
from workbench.regeneration.environment import Environment, build_environment, installed_in
from workbench.repository import Snapshot
from workbench.repository.archives import unpack
from workbench.repository.store import Known, Store
from workbench.repository.tree import Limits as TreeLimits
from workbench.sandbox import Limits, Workspace

# The archive's single top-level folder, which unpacking strips again.
_TOP = "tree"
# Fixed time stamps, so that the same tree always gives the same bytes.
_NO_TIME = 0


@dataclass(frozen=True, slots=True)
class JobBundle:
    """One repository with its environment, for workers that have neither."""

    name: str
    snapshot: str  # digest of its content
    archive: bytes  # its files, a gzipped tar
    environment: str  # digest of its environment on the sending machine
    install: tuple[str, ...]  # the case's commands, from which that environment was built
    test: tuple[str, ...]  # the case's commands
    installed: tuple[str, ...]  # ``name==version`` of everything in that environment
    workspace: Workspace  # with folders of the sending machine
    sandbox: str  # preferred back end; without it the strongest isolating one is used
    limits: Limits  # of one sandbox
    runner: str  # digest of the program that determines verdicts

    @property
    def key(self) -> str:
        """Identity of the sandboxes made from this bundle (32 hex digits)."""
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
) -> JobBundle:
    return JobBundle(
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


def unpacked(bundle: JobBundle) -> Snapshot:
    """Return the snapshot on this machine, unpacked if necessary. ClusterError: it differs from the sent one."""
    store = Store(paths.cache_dir().absolute())
    known = Known(f"cluster:{bundle.snapshot}", bundle.snapshot, "", "", time.time())
    cached = store.load(known)
    if cached is not None:
        return cached
    with store.workspace() as workspace, tempfile.NamedTemporaryFile(suffix=".tar.gz") as file:
        file.write(bundle.archive)
        file.flush()
        tree = unpack(Path(file.name), workspace / "tree", TreeLimits())
        if tree.digest != bundle.snapshot:
            raise ClusterError(f"The files of {bundle.name} arrived changed; start the run again.")
        return store.publish(workspace, tree, known)


async def workspace_of(bundle: JobBundle) -> Workspace:
    """Return the workspace, building it with exactly the sender's versions: others may give other verdicts."""
    import asyncio

    if bundle.runner != runner_digest():
        raise ClusterError("the Workbench there gives verdicts by other rules; install the same version on both sides")
    snapshot = await asyncio.to_thread(unpacked, bundle)
    install = bundle.install
    if installed_in(bundle.environment) != bundle.installed:
        pinned = [line for line in bundle.installed if not line.startswith(("pip==", "uv=="))]
        install = ("pip install " + " ".join(pinned),)
    environment = await build_environment(snapshot.root, install=install, test=bundle.test)
    here = environment.workspace
    return replace(bundle.workspace, root=here.root, python=here.python, mounts=here.mounts, metadata=here.metadata)


@cache
def runner_digest() -> str:
    """Return a digest of what determines verdicts: the runner's source and Python's version."""
    digest = hashlib.sha256(".".join(map(str, sys.version_info[:2])).encode())
    folder = Path(sandbox.__file__).parent / "workbench_runner"
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
