"""Runs the blocks of a page as process 1 of a sandbox: ``python -I -B page_runner.py STEPS RESULTS SECONDS [OTHERS]``.

Needs only the standard library of Python 3.9 or later. STEPS is a JSON object with the ``steps`` of a page. RESULTS
gets one line of JSON that proves the isolation, then one for each step. Shell commands share working directory and
exported variables, snippets share a namespace, and each step has its own time limit. There is no terminal; a command
that fails without one runs again on a terminal of fixed size, with empty input.

OTHERS is a file in which the host writes the progress of other sandboxes. For the page, it lists the first steps of
chains that ran apart: these chains are skipped, except for their imports, as long as nothing before them affects them.
If STEPS has ``chains``, only these are run, starting with the last chain on the page. Each runs afresh, with the
reader's files and the imports of earlier snippets; OTHERS then contains the last step that the page has reached. A
chain that leaves files, variables or processes behind ends this process.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import Any, BinaryIO

OUTPUT = 64 * 1024
STATE = "/dev/shm/.state"
PLACES = ("repo", "/home/sandbox", "/tmp", "/dev/shm")
#: Files in the folder of a check that the host and the runners write.
HOST = {"repo", "steps.json", "results.jsonl", "apart.json", ".apart.json", "passed.json", ".passed.json"}
OWN = {"/tmp/.out", "/tmp/.err", STATE}
#: Variables that bash sets by itself.
BY_ITSELF = re.compile(r"declare -x (?:OLDPWD|SHLVL|_)(?:=|$)")
#: Prefix of every command: it restores the working directory and variables of the previous command, and saves its own.
WRAPPED = (
    f'__save() {{ local status=$?; export -n status; {{ export -p; printf "cd %q\\n" "$PWD"; }} > {STATE} 2>/dev/null; exit $status; }}\n'
    f"trap __save EXIT\n[ -f {STATE} ] && . {STATE}\nset -a -o pipefail\n"
)


def isolation() -> str:
    """Return why this process is not isolated (not process 1, other processes, network, writable system), or ""."""
    if os.getpid() != 1:
        return "it is not process 1 of a namespace of its own"
    others = [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]
    if others:
        return "other processes can be seen"
    with open("/proc/net/dev") as file:
        networks = {line.split(":")[0].strip() for line in file if ":" in line} - {"lo"}
    if networks:
        return "there is a network"
    for folder in ("/", "/usr", "/etc"):
        if os.access(folder, os.W_OK):
            return f"{folder} can be written"
    return ""


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 * 2**20, 256 * 2**20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (400, 400))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def end_all(spared: set[int]) -> None:
    for _ in range(100):
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        pids = [pid for pid in pids if pid != 1 and pid not in spared and not ended(pid)]
        if not pids:
            return
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                try:
                    os.kill(pid, sign)
                except OSError:
                    pass
        reap(spared)


def ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] in b"ZX"
    except OSError:
        return True


def reap(spared: set[int]) -> None:
    """Reap orphans, which process 1 inherits and which count against the process limit."""
    try:
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid in spared:
                return
            os.waitpid(found.si_pid, os.WNOHANG)
    except OSError:
        pass


def tail(file: BinaryIO) -> str:
    file.flush()
    size = os.fstat(file.fileno()).st_size
    data = os.pread(file.fileno(), OUTPUT, max(0, size - OUTPUT))
    return data.decode("utf-8", "replace")


class Snippets:
    """The process in which Python snippets run one after another."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.before: list[str] = []  # imports of skipped snippets, to be repeated before the next one
        self.orders: BinaryIO
        self.answers: BinaryIO

    def start(self) -> subprocess.Popen[bytes]:
        read_order, write_order = os.pipe()
        read_answer, write_answer = os.pipe()
        program = os.path.join(os.path.dirname(__file__), "snippets.py")
        self.process = subprocess.Popen(
            [sys.executable, "-B", program, str(read_order), str(write_answer)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(read_order, write_answer), preexec_fn=limit,
        )  # fmt: skip
        os.close(read_order)
        os.close(write_answer)
        self.orders, self.answers = os.fdopen(write_order, "wb"), os.fdopen(read_answer, "rb")
        return self.process

    def run(self, step: dict[str, Any], seconds: float) -> dict[str, Any]:
        process = self.process or self.start()
        with open("/tmp/.out", "w+b") as out, open("/tmp/.err", "w+b") as err:
            began = time.monotonic()
            try:
                self.orders.write(json.dumps({**step, "before": self.before}).encode() + b"\n")
                self.before = []
                self.orders.flush()
                ready, _, _ = select.select([self.answers], [], [], seconds)
                line = self.answers.readline() if ready else None
            except OSError:
                line = b""
            result = {"stdout": tail(out), "stderr": tail(err), "seconds": time.monotonic() - began}
        if line:
            return {**result, **json.loads(line)}
        status = None
        if line is not None:
            try:
                status = process.wait(1)
            except subprocess.TimeoutExpired:
                pass
        self.end()
        return {**result, "timeout": line is None, "status": status if status is not None else -9, "ended": True}

    def end(self) -> None:
        end_all(set())
        if self.process is not None:
            self.process.wait()
        self.process = None


def bash(step: dict[str, Any], **streams: Any) -> subprocess.Popen[bytes]:
    """Start a command in bash with the state that the previous command left."""
    command = ["/bin/bash", "-c", f"{WRAPPED}{step['code']}\n"]
    return subprocess.Popen(command, start_new_session=True, **streams)


def shell(step: dict[str, Any], seconds: float, spared: set[int]) -> dict[str, Any]:
    with open("/tmp/.out", "w+b") as out, open("/tmp/.err", "w+b") as err:
        began = time.monotonic()
        process = bash(step, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit)
        late = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            late = True
            end_all(spared)
            process.wait()
        spent = time.monotonic() - began
        result = {"stdout": tail(out), "stderr": tail(err), "seconds": spent}
        return {**result, "status": process.returncode, "timeout": late}


WANTS_TERMINAL = re.compile(r"\btty\b|isatty|terminal|ioctl|termios|curses", re.I)
LINES, COLUMNS = 24, 80
#: Processor seconds, and share of the run time, that tracing side effects may take.
MOST_TRACING, SHARE_TRACING = 0.2, 0.1
#: Maximum number of processes that a step may leave behind.
CROWD = 60


def on_terminal(step: dict[str, Any], seconds: float, spared: set[int]) -> dict[str, Any]:
    """Run a command on a terminal with empty input."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    began, data, late = time.monotonic(), b"", False

    def own_terminal() -> None:
        limit()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = bash(step, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal)
    os.close(slave)
    os.write(master, b"\x04" * 32)  # end of input, for several reads
    while process.poll() is None or select.select([master], [], [], 0)[0]:
        late = late or time.monotonic() - began > seconds
        if late and process.poll() is None:
            end_all(spared)
        try:
            if select.select([master], [], [], 0.02)[0]:
                data = (data + os.read(master, OUTPUT))[-OUTPUT:]
        except OSError:  # the other end is closed
            break
    process.wait()
    os.close(master)
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    spent = time.monotonic() - began
    return {"stdout": text, "stderr": "", "seconds": spent, "status": process.returncode, "timeout": late}


def done(step: dict[str, Any], seconds: float, snippets: Snippets) -> dict[str, Any]:
    if step["kind"] != "shell":
        return snippets.run(step, seconds)
    spared = {snippets.process.pid} if snippets.process is not None else set()
    result = shell(step, seconds, spared)
    if result["status"] and not result["timeout"] and WANTS_TERMINAL.search(result["stdout"] + result["stderr"]):
        again = on_terminal(step, seconds, spared)
        return again if again["status"] == 0 and not again["timeout"] else result
    return result


# -- side effects of steps: a step without side effects cannot affect later steps and may run elsewhere


def files(folder: str) -> dict[str, tuple[int, ...]]:
    """Return the writable paths in the check's folder and the in-memory folders, with metadata to detect writes."""
    found: dict[str, tuple[int, ...]] = {}
    pending = [os.path.join(folder, place) for place in PLACES]
    while pending:
        at = pending.pop()
        try:
            entries = list(os.scandir(at))
        except OSError:
            continue
        for entry in entries:
            if entry.path in OWN:
                continue
            try:
                seen = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    found[entry.path] = (seen.st_mode, seen.st_ino)
                    pending.append(entry.path)
                else:
                    found[entry.path] = (seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns)
            except OSError:
                found[entry.path] = ()
    for name in set(os.listdir(folder)) - HOST:
        found[name] = ()
    return found


def shell_state() -> list[str] | None:
    """Return the saved shell state without the variables that bash sets itself, or None if there is none."""
    try:
        with open(STATE, encoding="utf-8", errors="replace") as file:
            return [line for line in file.read().splitlines() if not BY_ITSELF.match(line)]
    except OSError:
        return None


class Traces:
    """Compares the sandbox before and after each step."""

    def __init__(self) -> None:
        shell({"code": ":"}, 10.0, set())
        self.plain = shell_state()
        if os.path.exists(STATE):
            os.unlink(STATE)
        self.folder = os.path.dirname(os.getcwd())
        self.before = files(self.folder)
        self.rest = False  # whether a step left something behind for all later ones
        self.python = False  # the same, for Python snippets only
        self.failed: set[int] = set()

    def provided(self, path: str) -> None:
        """Treat a file that was written for a step as one that existed before."""
        now = files(self.folder)
        absolute = os.path.join(self.folder, "repo", path)
        self.before = {**self.before, **{name: seen for name, seen in now.items() if name.startswith(absolute)}}

    def note(self, step: dict[str, Any], result: dict[str, Any], alive: bool) -> None:
        late = bool(result.get("timeout") or result.get("ended"))
        if step["kind"] != "shell":
            self.python = self.python or late or bool(result.get("trace", True) or result.get("asked"))
            if late or result.get("error") or any(one.get("error") for one in result.get("examples", ())):
                self.failed.add(step["id"])
        elif shell_state() != self.plain:
            self.rest = True
        if not self.rest:
            self.rest = alive or files(self.folder) != self.before

    def allow(self, step: dict[str, Any]) -> bool:
        """Return whether a result from another sandbox is valid here: no earlier step left anything behind."""
        return not (
            self.rest or (step["kind"] != "shell" and (self.python or self.failed.intersection(step.get("uses", ()))))
        )


def read_json(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def provide(step: dict[str, Any], traces: Traces | None = None) -> list[str]:
    """Write the files that the reader provides; return the new ones."""
    made = []
    for path, content in step.get("files", ()):
        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write(content)
            made.append(path)
            if traces is not None:
                traces.provided(path)
    return made


def make_room(snippets: Snippets) -> None:
    own = {snippets.process.pid} if snippets.process is not None else set()
    reap(own)
    if sum(name.isdigit() for name in os.listdir("/proc")) > CROWD:
        # With more processes than a few servers, bash would wait for a free one until it times out.
        end_all(own)
        reap(own)


def result_of(step: dict[str, Any], seconds: float, snippets: Snippets) -> dict[str, Any]:
    """Run a step; if earlier processes left no room for it, end the snippets and retry once."""
    make_room(snippets)
    try:
        return done(step, seconds, snippets)
    except (OSError, RuntimeError):
        snippets.end()
        return done(step, seconds, snippets)


def goes_on(snippets: Snippets) -> bool:
    own = {1, snippets.process.pid if snippets.process is not None else 1}
    return any(name.isdigit() and int(name) not in own and not ended(int(name)) for name in os.listdir("/proc"))


def run(steps: list[dict[str, Any]], seconds: float, report: Any, apart: str) -> None:
    snippets = Snippets()
    traces = Traces() if apart else None
    began, tracing = time.monotonic(), 0.0
    left_out: set[int] = set()  # chains by their first step; all steps of a chain are skipped or none
    seen_chains: set[int] = set()
    for step in steps:
        provide(step, traces)
        chain = step.get("chain")
        if traces is not None and chain is not None and chain not in seen_chains:
            seen_chains.add(chain)
            if chain in (read_json(apart) or ()) and traces.allow(step):
                left_out.add(chain)
        if chain in left_out:
            snippets.before += step.get("imports", ())
            report({"id": step["id"], "apart": True})
            continue
        most = step.get("seconds", seconds)
        result = result_of({**step, "traced": traces is not None and not traces.python}, most, snippets)
        if traces is not None:
            since = time.process_time()
            traces.note(step, result, goes_on(snippets))
            tracing += time.process_time() - since + result.get("looking", 0.0)
            if tracing > MOST_TRACING + SHARE_TRACING * (time.monotonic() - began):
                traces.rest = True  # tracing costs more than it can save
            result = {**result, "rest": traces.rest}
            traces = None if traces.rest else traces
        report({"id": step["id"], **result})


def run_chain(chain: list[int], steps: list[dict[str, Any]], seconds: float, traces: Traces) -> dict[str, Any]:
    """Run a chain by itself; return the results of its steps and whether it left nothing behind."""
    snippets, made, results = Snippets(), [], {}
    traces.python, clean = False, True
    for step in (one for one in steps if one["id"] <= chain[-1]):
        made += provide(step, traces)
        if step["id"] not in chain:
            snippets.before += step.get("imports", ())
            continue
        result = results[step["id"]] = result_of({**step, "traced": True}, seconds, snippets)
        traces.note(step, result, goes_on(snippets))
        clean = not (traces.rest or traces.python or result.get("timeout"))
        if not clean:
            break
    snippets.end()
    for path in (*made, STATE):
        if os.path.exists(path):
            os.unlink(path)
    if made:
        traces.before = files(traces.folder)
    return {"id": chain[0], "clean": clean, "results": results}


def main() -> None:
    steps_path, results_path, seconds, *others = sys.argv[1:]
    with open(steps_path) as file:
        request = json.load(file)
    with open(results_path, "w") as results:

        def report(result: dict[str, Any]) -> None:
            results.write(json.dumps(result) + "\n")
            results.flush()

        problem = isolation()
        report({"id": -1, "problem": problem})
        if problem:
            return
        if "chains" not in request:
            run(request["steps"], float(seconds), report, others[0] if others else "")
            return
        traces = Traces()
        for chain in request["chains"]:
            if traces.rest or chain[0] <= (read_json(others[0]) or 0):
                return
            report(run_chain(chain, request["steps"], float(seconds), traces))


main()
