"""The embedded model's process: ``python -m workbench.models.local_server --model PATH --port 0``.

It serves llama.cpp's OpenAI-compatible API on loopback, prints one JSON line with its port, and exits together with its
parent: when standard input closes, when the parent process changes, and (Linux) by the kernel's parent-death signal.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
import threading
from urllib.parse import urlsplit

KEY_VARIABLE = "WORKBENCH_LOCAL_KEY"
_PR_SET_PDEATHSIG = 1


def _exit_with_parent(parent: int) -> None:
    """Make sure that this process does not outlive ``parent``, however that one ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent died before the line above
        os._exit(0)

    def watch_input() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        os._exit(0)

    def watch_parent() -> None:
        # A forked sibling can hold standard input open, but it cannot keep the parent's id.
        never = threading.Event()
        while not never.wait(1.0):
            if os.getppid() != parent:
                os._exit(0)

    threading.Thread(target=watch_input, daemon=True).start()
    threading.Thread(target=watch_parent, daemon=True).start()


def _emit(**event: object) -> None:
    print(json.dumps(event), flush=True)


def main() -> None:
    """Load the model, announce the port, and serve until the parent exits."""
    parser = argparse.ArgumentParser(prog="python -m workbench.models.local_server")
    parser.add_argument("--model", required=True, help="GGUF file")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=4, help="requests answered at once")
    parser.add_argument("--context", type=int, default=8192, help="tokens of the longest conversation")
    parser.add_argument("--pool", type=int, default=16384, help="tokens that all conversations share")
    parser.add_argument("--threads", type=int, default=0, help="0 = every core that this process may use")
    parser.add_argument("--parent", type=int, default=os.getppid())
    options = parser.parse_args()
    _exit_with_parent(options.parent)
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # ctrl+c reaches the whole process group; the parent decides when to stop

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
    # One pool for all slots: a single long conversation may use all of it, and it takes half the memory of fixed slots.
    params.kv_unified = True
    params.n_ctx = max(options.context, options.pool)
    params.kv_unified_per_slot = 0
    params.cont_batching = True
    params.cache_prompt = True
    params.cache_ram_mib = 256  # the default of 8 GB is not for a laptop
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
