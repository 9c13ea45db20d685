"""Docker (or Podman's socket): one container per worker, kept for many candidates, the runner as its first process."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import socket
import struct
import threading
from pathlib import Path
from typing import Any

from workbench.sandbox.backend import RUNNER, Channel, Launch, Layout, runner_command
from workbench.sandbox.errors import SandboxUnavailable

#: Any image with the C library that the environment's interpreter was built for, a shell and the core utilities.
DEFAULT_IMAGE = "debian:stable-slim"

_USER = "1000:1000"
_OWN_MEMORY_MB, _OWN_PROCESSES = 192, 12


class Docker:
    """Containers without network, capabilities or a writable root.

    The environment and its interpreter are mounted read-only at the same paths, so the engine must run on this machine.
    """

    name = "docker"

    def __init__(self, image: str | None = None) -> None:
        self.image = image or os.environ.get("WORKBENCH_DOCKER_IMAGE") or DEFAULT_IMAGE

    def problem(self) -> str | None:
        """Return why it cannot be used here, or None."""
        return _problem(self.image, os.environ.get("DOCKER_HOST", ""))

    def guarantees(self) -> tuple[str, ...]:
        """Return what it promises."""
        return (
            "Network: none (no interface but loopback).",
            "Files: the image, the interpreter and the environment are visible, read-only; writes go to memory.",
            "Home folder, sessions, keys and environment variables are not visible.",
            "Memory: a control group bounds the candidate and all its children; no swap.",
            "Processes: a control group bounds their number; one processor per worker.",
            "Every process that a candidate starts is killed with it (PID namespace).",
            "Privileges: an ordinary user, all capabilities dropped, no new privileges, the engine's system call filter.",
            "The engine itself usually runs as root: a hole in it is a hole in this.",
        )

    async def start(self, launch: Launch) -> Channel:
        """Start a container.

        Raises:
            SandboxUnavailable: The engine does not answer or refuses the container.
        """
        reason = self.problem()
        if reason:
            raise SandboxUnavailable(reason)
        layout = Layout()
        import docker.errors

        try:
            client = _client()
            container = await asyncio.to_thread(self._create, client, launch, layout)
            return await DockerChannel.open(client, container, layout)
        except (docker.errors.DockerException, OSError) as error:
            raise SandboxUnavailable(f"The Docker engine refused the sandbox: {_sentence(error)}") from None

    def _create(self, client: Any, launch: Launch, layout: Layout) -> Any:
        writable = f"rw,exec,nosuid,nodev,uid=1000,gid=1000,mode=755,size={launch.limits.disk_mb}m"
        folders = (layout.root, layout.home, layout.temporary, layout.metadata)
        tmpfs = dict.fromkeys(folders, writable)
        if any(mount.is_relative_to("/root") for mount in launch.mounts):
            tmpfs["/root"] = "ro,mode=755,size=1m"  # an ordinary user may not pass through an image's own /root
        volumes = {str(mount): {"bind": str(mount), "mode": "ro"} for mount in launch.mounts}
        volumes[str(RUNNER)] = {"bind": f"{layout.runner}/workbench_runner", "mode": "ro"}
        memory = f"{launch.limits.memory_mb + _OWN_MEMORY_MB}m"
        return client.containers.create(
            self.image,
            entrypoint=runner_command(launch.python, layout.runner),
            command=[],
            environment=dict(launch.variables),
            user=_USER,
            working_dir=layout.root,
            hostname="sandbox",
            labels={"workbench": "sandbox"},
            stdin_open=True,
            network_mode="none",
            ipc_mode="private",
            shm_size=f"{launch.limits.disk_mb}m",
            read_only=True,
            tmpfs=tmpfs,
            volumes=volumes,
            mem_limit=memory,
            memswap_limit=memory,
            pids_limit=launch.limits.processes + _OWN_PROCESSES,
            nano_cpus=1_000_000_000,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
        )


class DockerChannel:
    """The container's standard streams, which the engine sends multiplexed over one socket."""

    def __init__(self, client: Any, container: Any, layout: Layout, stream: socket.socket) -> None:
        self.layout = layout
        self.address_space_mb: int | None = None
        self.process_limit: int | None = None
        self._client = client
        self._container = container
        self._stream = stream
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._errors = bytearray()
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
                    self._errors += data
                    del self._errors[:-4096]
                    continue
                pending += data
                if b"\n" in data:
                    *lines, rest = bytes(pending).split(b"\n")
                    pending = bytearray(rest)
                    for line in lines:
                        loop.call_soon_threadsafe(self._lines.put_nowait, line + b"\n")
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
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
        """Write one line."""
        await asyncio.to_thread(self._stream.sendall, line + b"\n")

    async def receive(self) -> bytes:
        """Return the next line, or ``b""`` when the container is gone."""
        line = await self._lines.get()
        if not line:
            self._lines.put_nowait(b"")
        return line

    def memory_kills(self) -> int:
        """Return 1 once the kernel has killed a process of the container for memory; the engine does not count."""
        try:
            self._container.reload()
            return int(bool(self._container.attrs["State"]["OOMKilled"]))
        except Exception:  # the engine is gone, in whatever way its client tells
            return 0

    def disk_exceeded(self) -> bool:
        """Return False: what is written goes to a bounded tmpfs."""
        return False

    async def close(self) -> str:
        """Kill and remove the container."""
        with contextlib.suppress(Exception):  # it may be gone, and the engine as well
            await asyncio.to_thread(functools.partial(self._container.remove, force=True))
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        await asyncio.to_thread(self._thread.join, 5.0)
        self._stream.close()
        await asyncio.to_thread(self._client.close)
        return self._errors.decode("utf-8", "replace").strip()


def _client() -> Any:
    import docker

    return docker.from_env(timeout=60)


@functools.lru_cache(maxsize=8)
def _problem(image: str, host: str) -> str | None:
    where = host or "unix:///var/run/docker.sock"
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
        return f"Docker has no image {image!r}; pull it, or name another one in WORKBENCH_DOCKER_IMAGE."
    except (docker.errors.DockerException, OSError) as error:
        sentence = f"The Docker engine at {where} does not answer ({_sentence(error)})."
        # An address may carry a name and a password; neither belongs on a screen.
        return re.sub(r"//[^/@\s]*@", "//", sentence)
    return None


def _sentence(error: BaseException) -> str:
    text = str(getattr(error, "explanation", None) or error).strip()
    return text.splitlines()[0][:200] if text else type(error).__name__
