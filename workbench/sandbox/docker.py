"""The Docker back end, which also works with Podman: one container per worker, with the runner as its first process."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import io
import os
import re
import socket
import stat
import struct
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.disks import says_full
from workbench.base.reasons import reason_of
from workbench.sandbox.backend import RUNNER, Channel, Guarantees, Launch, Layout, runner_command
from workbench.sandbox.control import OWN_MEMORY_MB, OWN_PROCESSES
from workbench.sandbox.types import SandboxUnavailable

#: Name of the images; ``docker image prune --all --filter label=workbench=environment`` removes them.
REPOSITORY = "workbench-environment"

_CHUNK = 1 << 20
_NOT_USED = frozenset({"site-packages", "test", "idlelib"})
_making = threading.Lock()


def environment_image(client: Any, base: str, folders: Mapping[str, Path]) -> str:
    import docker.errors

    tag = f"{REPOSITORY}:{_digest(client.images.get(base).id, folders)}"
    with _making:  # Several workers may start at the same time.
        try:
            client.images.get(tag)
        except docker.errors.ImageNotFound:
            _make(client, base, folders, tag)
    return tag


def _make(client: Any, base: str, folders: Mapping[str, Path], tag: str) -> None:
    container = client.containers.create(
        base, command=["true"], labels={"workbench": "environment"}, network_mode="none"
    )
    try:
        with _archive(folders) as file:
            container.put_archive("/", iter(lambda: file.read(_CHUNK), b""))
        repository, _, name = tag.rpartition(":")
        container.commit(repository=repository, tag=name, conf={"Labels": {"workbench": "environment"}})
    finally:
        container.remove(force=True)


def _files(folder: Path) -> Iterator[Path]:
    """Yield ``folder`` and everything below it, in order, without following links.

    Parts of a base interpreter that no environment uses are left out: its site-packages, its tests, and files for
    building extensions.
    """
    based_on = not (folder / "pyvenv.cfg").exists()
    yield folder
    for here, folders, names in os.walk(folder):
        if based_on and Path(here).parent == folder / "lib":
            folders[:] = [name for name in folders if name not in _NOT_USED and not name.startswith("config-")]
        folders.sort()
        for name in sorted([*folders, *names]):
            yield Path(here, name)


def _digest(base: str, folders: Mapping[str, Path]) -> str:
    """Return a digest of paths, types, sizes and times, which suffice because environments are never edited in place."""
    digest = hashlib.sha256(base.encode())
    for inside, folder in sorted(folders.items()):
        for path in _files(folder):
            status = path.lstat()
            detail = (inside, str(path.relative_to(folder)), status.st_mode, status.st_size, int(status.st_mtime))
            if stat.S_ISDIR(status.st_mode):
                detail = (*detail[:3], 0, 0)  # Writing bytecode files changes the size and time of the folder.
            if "__pycache__" not in path.parts:
                digest.update(repr(detail).encode())
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _archive(folders: Mapping[str, Path]) -> Iterator[io.BufferedIOBase]:
    """Yield a tar archive of ``folders`` at their paths inside the sandbox, readable by everyone and owned by root."""

    def everybody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o111 else 0o644
        return entry

    with tempfile.TemporaryFile(prefix="workbench-image-") as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            seen: set[str] = set()
            for inside, folder in sorted(folders.items()):
                # An unprivileged user must be able to traverse every parent folder, for example /root.
                for parent in reversed(Path(inside).parents[:-1]):
                    if str(parent) not in seen:
                        seen.add(str(parent))
                        entry = tarfile.TarInfo(str(parent).lstrip("/"))
                        entry.type = tarfile.DIRTYPE
                        archive.addfile(everybody(entry))
                for path in _files(folder):
                    name = Path(inside.lstrip("/"), path.relative_to(folder))
                    archive.add(path, str(name), recursive=False, filter=everybody)
        file.seek(0)
        yield file


class DockerChannel(Channel):
    """A running container that exchanges lines with the runner."""

    def __init__(self, client: Any, container: Any, layout: Layout, stream: socket.socket) -> None:
        super().__init__(layout)
        self._client, self._container, self._stream = client, container, stream
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._read, args=(loop,), name="docker-channel", daemon=True)
        self._thread.start()

    @classmethod
    async def open(cls, client: Any, container: Any, layout: Layout) -> DockerChannel:
        """Attach to the container, then start it."""

        def attach() -> socket.socket:
            parameters = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            attached = client.api.attach_socket(container.id, params=parameters)
            stream: socket.socket = getattr(attached, "_sock", attached)
            stream.settimeout(None)
            container.start()
            return stream

        try:
            return cls(client, container, layout, await asyncio.to_thread(attach))
        except BaseException:
            with contextlib.suppress(Exception):
                await asyncio.to_thread(functools.partial(container.remove, force=True))
            raise

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        pending = bytearray()
        with contextlib.suppress(OSError, RuntimeError):
            while header := self._exactly(8):
                kind, length = struct.unpack(">BxxxL", header)
                data = self._exactly(length)
                if kind != 1:
                    self._record_errors(data)
                    continue
                pending += data
                if b"\n" in data:
                    *lines, rest = bytes(pending).split(b"\n")
                    pending = bytearray(rest)
                    for line in lines:
                        loop.call_soon_threadsafe(self._lines.put_nowait, line + b"\n")
        with contextlib.suppress(RuntimeError):  # The event loop is closed, so nobody is waiting.
            loop.call_soon_threadsafe(self._lines.put_nowait, b"")

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            chunk = self._stream.recv(min(1 << 20, length - len(data)))
            if not chunk:
                return b""
            data += chunk
        return bytes(data)

    async def send(self, line: bytes) -> None:
        await asyncio.to_thread(self._stream.sendall, line + b"\n")

    async def receive(self) -> bytes:
        line = await self._lines.get()
        if not line:
            self._lines.put_nowait(b"")
        return line

    async def memory_killed(self, patience: float = 0.0) -> bool:
        """Return whether the kernel killed a process for memory; the engine learns of it with a delay."""
        loop = asyncio.get_running_loop()
        end = loop.time() + patience
        with contextlib.suppress(Exception):  # The engine is gone, and its client may raise any exception.
            while True:
                await asyncio.to_thread(self._container.reload)
                if self._container.attrs["State"]["OOMKilled"]:
                    return True
                if loop.time() >= end:
                    break
                await asyncio.sleep(0.05)
        return False

    async def close(self) -> str:
        with contextlib.suppress(Exception):  # The container or the engine may be gone.
            await asyncio.to_thread(functools.partial(self._container.remove, force=True))
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        await asyncio.to_thread(self._thread.join, 5.0)
        self._stream.close()
        await asyncio.to_thread(self._client.close)
        return self._recorded_errors()


#: Any image with a shell, the core utilities and the C library that the environment's interpreter was built for.
DEFAULT_IMAGE = "debian:stable-slim"

_SOCKET = "/var/run/docker.sock"
_USER = 1000
_OPEN_FILES, _TASKS_OF_USER = 4096, 16384

#: Podman's own system call filter allows keyrings, where a candidate could leave data for the next one.
_FILTER = "from workbench_runner import confine; confine.seccomp_available() and confine.seccomp(sockets=True); "

#: Messages of an engine that cannot see one of this machine's folders: first Docker's, then Podman's.
_NOT_THERE = ("bind source path does not exist", "no such file or directory", "not shared from the host")


class Docker:
    """Runs containers without a network, capabilities or a writable root.

    If the engine can access this machine's files, the environment and its interpreter are mounted read-only at the same
    paths. Otherwise, an image that contains both is built once per environment.
    """

    name = "docker"

    def __init__(self, image: str | None = None) -> None:
        self.image = image or os.environ.get("WORKBENCH_DOCKER_IMAGE") or DEFAULT_IMAGE

    def problem(self) -> str | None:
        return _problem(self.image, os.environ.get("DOCKER_HOST", ""))

    def guarantees(self) -> Guarantees:
        sentences = (
            "Network: none (no interface but loopback).",
            "Files: the image, the interpreter and the environment are visible, read-only; writes go to memory.",
            "Home folder, sessions, keys and environment variables are not visible.",
            "Memory: a control group bounds the candidate and all its children; no swap.",
            "Processes: a control group bounds their number; one processor per worker.",
            "Every process that a candidate starts is killed with it (PID namespace).",
            "Privileges: an ordinary user, all capabilities dropped, no new privileges, the engine's system call filter and ours.",
            "The engine itself usually runs as root: a vulnerability in it affects this sandbox.",
        )
        return Guarantees(isolated=True, network=False, bounded_disk=True, sentences=sentences)

    async def start(self, launch: Launch) -> Channel:
        reason = self.problem()
        if reason:
            raise SandboxUnavailable(reason)
        layout = Layout()
        import docker
        import docker.errors

        try:
            client = await asyncio.to_thread(docker.from_env, timeout=60)
            try:
                shared = client.api.base_url.startswith(("unix:", "http+unix:", "http+docker:"))
                container = await asyncio.to_thread(self._create, client, launch, layout, shared)
                return await DockerChannel.open(client, container, layout)
            except docker.errors.APIError as error:
                if not shared or not any(words in str(error) for words in _NOT_THERE):
                    raise
                container = await asyncio.to_thread(self._create, client, launch, layout, False)
                return await DockerChannel.open(client, container, layout)
        except docker.errors.APIError as error:
            raise SandboxUnavailable(f"The Docker engine refused the sandbox: {reason_of(error)}.") from None
        except (docker.errors.DockerException, OSError) as error:
            if isinstance(error, OSError) and says_full(error):
                raise SandboxUnavailable(
                    f"The disk is full: there is no room in {tempfile.gettempdir()} for the image with the environment; "
                    "free some space."
                ) from None
            raise SandboxUnavailable(f"The Docker engine no longer answers ({reason_of(error)}).") from None

    def _create(self, client: Any, launch: Launch, layout: Layout, shared: bool) -> Any:
        from docker.types import Mount, Ulimit

        _remove_abandoned(client)
        # Podman cannot assign a tmpfs to a user. In one owned by root with the sticky bit, users can change only their
        # own files.
        is_podman = any("podman" in part.get("Name", "").lower() for part in client.version().get("Components", ()))
        owner = "mode=1777" if is_podman else f"uid={_USER},gid={_USER},mode=755"
        writable = f"rw,exec,nosuid,nodev,{owner},size={launch.limits.disk_mb}m"
        tmpfs = dict.fromkeys((layout.root, layout.home, layout.temporary, layout.metadata), writable)
        if is_podman:  # The option makes /run and /var/tmp writable even if the root is read-only.
            tmpfs |= dict.fromkeys(("/run", "/var/tmp"), "ro,size=1m")
        runner = f"{layout.runner}/workbench_runner"
        if shared:
            image, folders = self.image, {str(mount): str(mount) for mount in launch.mounts} | {runner: str(RUNNER)}
            if any(mount.is_relative_to("/root") for mount in launch.mounts):
                # An unprivileged user may not enter an image's own /root. runc gives a tmpfs the mode of the folder it
                # covers and ignores the requested mode, so the user becomes its owner and may enter.
                tmpfs["/root"] = f"ro,{owner},size=1m"
        else:
            hidden = [str(m) for m in launch.mounts if any(m.is_relative_to(folder) for folder in tmpfs)]
            if hidden:
                raise SandboxUnavailable(
                    f"A remote engine cannot provide {hidden[0]}, because the sandbox mounts a folder in memory there;"
                    " set WORKBENCH_CACHE_DIR to another folder."
                )
            copied = {str(mount): mount for mount in launch.mounts} | {runner: RUNNER}
            image, folders = environment_image(client, self.image, copied), {}
        ulimits = [Ulimit(name="nofile", soft=_OPEN_FILES, hard=_OPEN_FILES)]
        if is_podman:  # The engine would otherwise request four million, more than even root may have on some machines.
            ulimits.append(Ulimit(name="nproc", soft=_TASKS_OF_USER, hard=_TASKS_OF_USER))
        memory = f"{launch.limits.memory_mb + OWN_MEMORY_MB}m"
        return client.containers.create(
            image,
            entrypoint=runner_command(launch.python, layout.runner, _FILTER),
            command=[],
            environment=dict(launch.variables),
            user=f"{_USER}:{_USER}",
            working_dir=layout.root,
            hostname="sandbox",
            labels={"workbench": "sandbox", "workbench.owner": _owner()},
            stdin_open=True,
            network_mode="none",
            ipc_mode="private",
            shm_size=f"{launch.limits.disk_mb}m",
            read_only=True,
            tmpfs=tmpfs,
            mounts=[Mount(inside, outside, type="bind", read_only=True) for inside, outside in folders.items()],
            mem_limit=memory,
            memswap_limit=memory,
            pids_limit=launch.limits.processes + OWN_PROCESSES,
            nano_cpus=1_000_000_000,
            ulimits=ulimits,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
        )


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _remove_abandoned(client: Any) -> None:
    import docker.errors

    for container in client.containers.list(all=True, filters={"label": "workbench=sandbox"}, ignore_removed=True):
        machine, _, pid = container.labels.get("workbench.owner", "").rpartition(":")
        if machine == socket.gethostname() and not Path("/proc", pid).exists():
            with contextlib.suppress(docker.errors.APIError):
                container.remove(force=True)


def is_there() -> bool:
    """Return whether ``DOCKER_HOST`` or the usual socket points to an engine, without importing or contacting it."""
    return bool(os.environ.get("DOCKER_HOST")) or Path(_SOCKET).exists()


@functools.lru_cache(maxsize=8)
def _problem(image: str, host: str) -> str | None:
    where = host or f"unix://{_SOCKET}"
    if where.startswith("unix://") and not Path(where.removeprefix("unix://")).exists():
        return f"No Docker engine runs here ({where} does not exist); start one or set DOCKER_HOST."
    try:
        import docker
        import docker.errors
    except ImportError:
        return "The Python package docker is not installed."
    try:
        client = docker.from_env(timeout=5)
        try:
            client.ping()
            client.images.get(image)
        finally:
            client.close()
    except docker.errors.ImageNotFound:
        return f"Docker has no image {image!r}; pull it, or set WORKBENCH_DOCKER_IMAGE to another image."
    except (docker.errors.DockerException, OSError) as error:
        sentence = f"The Docker engine at {where} does not answer ({reason_of(error)})."
        # An address may contain a user name and a password, which must not be shown.
        return re.sub(r"//[^/@\s]*@", "//", sentence)
    return None
