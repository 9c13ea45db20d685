"""The embedded model's server process, and a loopback client without LiteLLM, which takes seconds to import."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import json
import os
import secrets
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from workbench.base.text import one_line
from workbench.models.local_files import LOCAL_WINDOW, local_model_status
from workbench.models.types import LocalModelCrashed, ModelUnavailable

KEY_VARIABLE = "WORKBENCH_LOCAL_KEY"
_PR_SET_PDEATHSIG = 1


def _exit_with_parent(parent: int) -> None:
    """Ensure that this process ends with ``parent``, regardless of how the parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # The parent exited before the previous line ran.
        os._exit(0)

    def watch_input() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        os._exit(0)

    def watch_parent() -> None:
        # A forked sibling can hold standard input open, but cannot have the parent's pid.
        never = threading.Event()
        while not never.wait(1.0):
            if os.getppid() != parent:
                os._exit(0)

    threading.Thread(target=watch_input, daemon=True).start()
    threading.Thread(target=watch_parent, daemon=True).start()


def _emit(**event: object) -> None:
    print(json.dumps(event), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m workbench.models.local_process")
    parser.add_argument("--model", required=True, help="GGUF file")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=4, help="number of concurrent requests")
    parser.add_argument("--context", type=int, default=8192, help="maximum tokens of a conversation")
    parser.add_argument("--pool", type=int, default=16384, help="tokens shared by all conversations")
    parser.add_argument("--threads", type=int, default=0, help="0 uses every available core")
    parser.add_argument("--parent", type=int, default=os.getppid())
    options = parser.parse_args()
    _exit_with_parent(options.parent)
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl+C reaches the whole process group; the parent decides when to stop.

    try:
        import xllamacpp
    except ImportError as error:
        _emit(event="error", message=f"xllamacpp cannot be loaded: {error}")
        sys.exit(3)

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {"local"}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.api_keys = [os.environ.pop(KEY_VARIABLE)] if KEY_VARIABLE in os.environ else []
    params.n_parallel = options.parallel
    # One pool for all slots takes half the memory of fixed slots, and a long conversation may use all of it.
    params.kv_unified = True
    params.n_ctx = max(options.context, options.pool)
    params.kv_unified_per_slot = 0
    params.cont_batching = True
    params.cache_prompt = True
    params.cache_ram_mib = 256  # The default of 8 GB is too much for a laptop.
    params.fit_params = False
    params.ui = False
    params.verbosity = 0
    threads = options.threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    params.cpuparams.n_threads = threads or 1
    params.cpuparams_batch.n_threads = threads or 1
    try:
        server = xllamacpp.Server(params)
    except Exception as error:
        _emit(event="error", message=f"the model file cannot be loaded: {error}")
        sys.exit(4)
    _emit(event="ready", port=urlsplit(server.listening_address).port, pid=os.getpid())
    threading.Event().wait()


if __name__ == "__main__":
    main()


SLOTS = 4
_START_LIMIT_S = 120.0
_STDERR_LINES = 40


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The running model's address; ``generation`` counts starts, so that a crash is attributed to the right process."""

    base_url: str
    key: str
    generation: int
    start_seconds: float


class LocalModel:
    """The embedded model as a child process, started by the first call that needs it."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._endpoint: Endpoint | None = None
        self._stderr_lines: deque[str] = deque(maxlen=_STDERR_LINES)
        self._stderr_reader: asyncio.Task[None] | None = None
        self._starts = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def endpoint(self) -> Endpoint:
        """Return the model's address, starting the model if needed.

        Raises:
            ModelUnavailable: The model is not installed or did not start in time.
            LocalModelCrashed: The process exited while loading the model.
        """
        async with self._lock:
            if self._endpoint is not None and self.pid is not None:
                return self._endpoint
            return await self._start()

    async def _start(self) -> Endpoint:
        status = local_model_status(self._path)
        if not status.present or status.gguf is None:
            raise ModelUnavailable(status.detail + ".")
        await self._stop()
        began = time.monotonic()
        key = secrets.token_urlsafe(24)
        environment = {name: value for name, value in os.environ.items() if not _is_secret(name)}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "workbench.models.local_process",
            *("--model", str(status.gguf), "--parent", str(os.getpid())),
            *("--parallel", str(SLOTS), "--context", str(LOCAL_WINDOW)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # OpenMP threads that spin on a shared core cost 95% of the speed (1.6 instead of 35 tokens/s).
            env={"OMP_WAIT_POLICY": "passive", **environment, KEY_VARIABLE: key},
        )
        self._process = process
        self._stderr_lines.clear()
        self._stderr_reader = asyncio.create_task(self._read_stderr(process))
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                line = await process.stdout.readline()
        except TimeoutError:
            await self._stop()
            raise ModelUnavailable(
                f"The embedded model did not start within {_START_LIMIT_S:.0f} s; the machine may be too busy."
            ) from None
        except asyncio.CancelledError:
            await self._stop()
            raise
        event = _event(line)
        if event.get("event") != "ready":
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(5):
                    await process.wait()
                    await self._stderr_reader
            words = str(event.get("message") or self.stderr_tail())
            await self._stop()
            raise LocalModelCrashed(f"The embedded model could not start: {one_line(words, 300)}.")
        self._starts += 1
        self._endpoint = Endpoint(f"http://127.0.0.1:{event['port']}/v1", key, self._starts, time.monotonic() - began)
        return self._endpoint

    async def _read_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(4096):
            self._stderr_lines.extend(line for line in chunk.decode("utf-8", "replace").splitlines() if line.strip())

    async def crashed(self, generation: int) -> str | None:
        """Return how the process of ``generation`` ended, or None if it is still running."""
        if self._endpoint is None or self._endpoint.generation != generation:
            return "it was restarted after a crash"
        process = self._process
        if process is None:
            return None
        # A dropped connection may be noticed shortly before the child exits.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await process.wait()
        if process.returncode is None:
            return None
        how = f"signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        words = self.stderr_tail()
        return f"{how}: {words}" if words else how

    def stderr_tail(self) -> str:
        return one_line(" ".join(list(self._stderr_lines)[-5:]), 300)

    async def _stop(self) -> None:
        process, self._process, self._endpoint = self._process, None, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()  # There is no state to save.
            await asyncio.shield(process.wait())
        if self._stderr_reader is not None:
            self._stderr_reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._stderr_reader
            self._stderr_reader = None

    async def aclose(self) -> None:
        async with self._lock:
            await self._stop()


def _event(line: bytes) -> dict[str, object]:
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _is_secret(name: str) -> bool:
    return any(part in name.upper() for part in ("KEY", "TOKEN", "SECRET", "PASSWORD"))


# -- one request


class APIConnectionError(Exception):
    """The connection broke before the answer was complete; the name matches the error in OpenAI's client."""


async def ask(
    messages: Sequence[Mapping[str, str]], base_url: str, key: str, settings: Mapping[str, Any], timeout_s: float
) -> Any:
    """Send a conversation once, and return the chat completion with fields as attributes, like LiteLLM's.

    ``settings`` are optional fields; their ``extra_body`` is merged into the request. ``timeout_s`` limits the entire
    exchange in seconds.

    Raises:
        TimeoutError: The time limit was exceeded.
        APIConnectionError: The connection broke.
        httpx.HTTPStatusError: The server reported an error, which is the message.
        ValueError: The answer is not JSON.
    """
    import httpx

    plain = {name: value for name, value in settings.items() if name != "extra_body"}
    body = {"model": "local", "messages": list(messages), **plain, **settings.get("extra_body", {})}
    try:
        # Loopback needs neither a proxy nor certificates.
        async with asyncio.timeout(timeout_s), httpx.AsyncClient(trust_env=False, verify=False, timeout=None) as client:
            answer = await client.post(
                f"{base_url}/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"}
            )
    except httpx.TransportError as broken:
        raise APIConnectionError(f"connection error: {broken}") from broken
    if answer.status_code >= 400:
        raise httpx.HTTPStatusError(_words(answer.text), request=answer.request, response=answer)
    return json.loads(answer.text, object_hook=lambda fields: SimpleNamespace(**fields))


def _words(text: str) -> str:
    try:
        message = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return text
    return str(message)
