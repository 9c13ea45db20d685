"""The channel to a runner in a container: its standard streams, multiplexed by the engine over one socket."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import struct
import threading
from typing import Any

from workbench.sandbox.backend import Layout


class DockerChannel:
    """A running container: lines in, lines out."""

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
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody is waiting
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
        """Return the next line, or ``b""`` when the container is gone."""
        line = await self._lines.get()
        if not line:
            self._lines.put_nowait(b"")
        return line

    async def memory_killed(self, patience: float = 0.0) -> bool:
        """Return whether the kernel has killed a process of the container for memory; the engine hears of it as an event."""
        end = asyncio.get_running_loop().time() + patience
        while True:
            try:
                await asyncio.to_thread(self._container.reload)
                if self._container.attrs["State"]["OOMKilled"]:
                    return True
            except Exception:  # the engine is gone; its client may raise anything
                return False
            if asyncio.get_running_loop().time() >= end:
                return False
            await asyncio.sleep(0.05)

    def disk_exceeded(self) -> bool:
        """Return False: all writes go to a tmpfs of limited size."""
        return False

    async def close(self) -> str:
        """Kill and remove the container."""
        with contextlib.suppress(Exception):  # the container or the engine may be gone
            await asyncio.to_thread(functools.partial(self._container.remove, force=True))
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        await asyncio.to_thread(self._thread.join, 5.0)
        self._stream.close()
        await asyncio.to_thread(self._client.close)
        return self._errors.decode("utf-8", "replace").strip()
