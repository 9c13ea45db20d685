"""A repository's job bundle, sent once to each worker of a cluster, and the functions that run on workers."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import io
import stat
import sys
import tarfile
import tempfile
import time
import weakref
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench import sandbox
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.cluster import ClusterError
from workbench.regeneration.environment import Environment, build_environment, installed_in
from workbench.repository import Snapshot
from workbench.repository.archives import unpack
from workbench.repository.store import ResolvedSource, Store
from workbench.repository.tree import SnapshotLimits
from workbench.sandbox import Job, Limits, Pool, Report, SandboxUnavailable, Workspace, choose_backend

# The archive's only top-level folder, which unpacking strips again.
_TOP = "tree"
# A fixed time stamp, so that the same tree always yields the same archive.
_NO_TIME = 0


@dataclass(frozen=True, slots=True)
class JobBundle:
    """A repository and a description of its environment, for workers that have neither."""

    name: str
    snapshot: str  # digest of the repository's content
    archive: bytes  # files of the repository, as a gzipped tar archive
    environment: str  # digest of the repository's environment on the sending machine
    install: tuple[str, ...]  # the case's install commands, from which that environment was built
    test: tuple[str, ...]  # the case's test commands
    installed: tuple[str, ...]  # every package in that environment, as ``name==version``
    workspace: Workspace  # workspace with folders of the sending machine
    sandbox: str  # preferred back end; if empty, the strongest isolating back end is used
    limits: Limits  # resource limits of one sandbox
    runner: str  # digest of the code that determines verdicts

    @property
    def key(self) -> str:
        """The identity of the sandboxes created from this bundle (32 hex digits)."""
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
    """Return the snapshot, unpacking it if necessary. Raises ClusterError if its content was changed in transit."""
    store = Store(paths.cache_dir().absolute())
    known = ResolvedSource(f"cluster:{bundle.snapshot}", bundle.snapshot, "", "", time.time())
    cached = store.load(known)
    if cached is not None:
        return cached
    with store.workspace() as workspace, tempfile.NamedTemporaryFile(suffix=".tar.gz") as file:
        file.write(bundle.archive)
        file.flush()
        tree = unpack(Path(file.name), workspace / "tree", SnapshotLimits())
        if tree.digest != bundle.snapshot:
            raise ClusterError(f"The files of {bundle.name} were changed in transit; start the run again.")
        return store.publish(workspace, tree, known)


async def workspace_of(bundle: JobBundle) -> Workspace:
    """Build the workspace with exactly the sender's package versions, because others might give different verdicts."""
    if bundle.runner != runner_digest():
        raise ClusterError("its Workbench determines verdicts differently; install the same version on both sides")
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
    """Return a digest of everything that determines verdicts: the runner's source and Python's version."""
    digest = hashlib.sha256(".".join(map(str, sys.version_info[:2])).encode())
    folder = Path(sandbox.__file__).parent / "workbench_runner"
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


# -- on a worker: sandboxes of each repository, between candidates

#: Seconds after which unused sandboxes are closed, because the run that opened them may have been killed.
IDLE_SECONDS = 300.0


def deliver(bundle: JobBundle) -> JobBundle:
    """Return the bundle as a task result, which Dask recomputes elsewhere if the worker that stores it is lost."""
    return bundle


async def test(bundle: JobBundle, job: Job) -> dict[str, Any]:
    """Test one candidate here; return this worker's address with ``report``, or with ``unfit`` and the reason."""
    from distributed.worker import get_worker

    worker = get_worker()
    all_sandboxes = _SANDBOXES.setdefault(worker, {})
    worker_sandboxes = all_sandboxes.get(bundle.key)
    if worker_sandboxes is None:
        worker_sandboxes = all_sandboxes[bundle.key] = WorkerSandboxes(bundle, worker.state.nthreads, all_sandboxes)
    try:
        report = await worker_sandboxes.run(job)
    except WorkbenchError as error:
        return {"unfit": str(error), "worker": worker.address}
    except OSError as error:
        return {"unfit": f"{error.strerror or error}", "worker": worker.address}
    return {"report": report, "worker": worker.address}


async def release(key: str) -> None:
    """Close the sandboxes of a job bundle on this worker unless they are in use."""
    for all_sandboxes in list(_SANDBOXES.values()):
        worker_sandboxes = all_sandboxes.get(key)
        if worker_sandboxes is not None:
            await worker_sandboxes.close()


@dataclass(slots=True)
class WorkerSandboxes:
    """One repository's sandboxes in this process."""

    bundle: JobBundle
    workers: int
    registry: dict[str, WorkerSandboxes]  # this worker's sandboxes by bundle key; `close` removes this object from it
    _pool: Pool | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _users: int = 0
    _closing: asyncio.TimerHandle | None = None
    _background: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self, job: Job) -> Report:
        """Test one candidate. Raises WorkbenchError if this worker lacks the repository, environment or sandbox."""
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        self._users += 1
        try:
            return await (await self._opened()).run(job)
        finally:
            self._users -= 1
            if not self._users:
                self._closing = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_soon)

    async def _opened(self) -> Pool:
        async with self._opening:
            if self._pool is None:
                backend = await asyncio.to_thread(_backend, self.bundle.sandbox)
                workspace = await workspace_of(self.bundle)
                self._pool = Pool(backend, workspace, workers=self.workers, limits=self.bundle.limits)
            return self._pool

    def _close_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self.close())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Close the sandboxes unless one is in use; the next candidate opens new ones."""
        async with self._opening:
            if self._users:
                return
            if self.registry.get(self.bundle.key) is self:
                del self.registry[self.bundle.key]
            pool, self._pool = self._pool, None
        if pool is not None:
            with contextlib.suppress(WorkbenchError, OSError):
                await pool.close()


def _backend(name: str) -> Any:
    try:
        return choose_backend(name or None)
    except SandboxUnavailable:
        # Any other isolating back end gives the same verdicts.
        return choose_backend(None)


_SANDBOXES: weakref.WeakKeyDictionary[Any, dict[str, WorkerSandboxes]] = weakref.WeakKeyDictionary()
