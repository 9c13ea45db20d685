"""The process in which Python snippets run one after another; requests and answers are lines of JSON.

Standard library only. Output goes to files that process 1 made.
"""

from __future__ import annotations

import ast
import contextlib
import json
import linecache
import os
import sys
import time
import traceback
import types
from typing import Any

from python_state import State  # type: ignore[import-not-found]

del sys.modules["python_state"]  # a project may have one
COROUTINE = 0x80  # inspect.CO_COROUTINE


OUT, ERR = "/tmp/.out", "/tmp/.err"


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def printed(path: str, since: int) -> tuple[str, int]:
    """Text printed to a file after position ``since``, and its new length.

    Streams are not replaced: handlers of ``logging`` keep those that they saw first.
    """
    flush()
    with open(path, "rb") as file:
        file.seek(since)
        data = file.read()
    return data.decode("utf-8", "replace")[-20000:], since + len(data)


ASKED: list[str] = []  # resources that snippets requested and a sandbox lacks
RAN: list[str] = []  # other programs that snippets started


def watch(event: str, given: tuple[Any, ...]) -> None:
    """Note a use of the network or of a program, even where the snippet goes on without."""
    if event == "socket.getaddrinfo" and str(given[0]) not in ("localhost", "127.0.0.1", "::1", "", "None", "0.0.0.0"):
        ASKED.append("a network")
    elif event == "webbrowser.open":
        ASKED.append("a browser")
    elif event in ("subprocess.Popen", "os.system", "os.exec") and given[0] not in (sys.executable, None):
        RAN.append(os.fsdecode(given[0]).split()[0] if isinstance(given[0], (str, bytes)) else str(given[0]))


sys.addaudithook(watch)


def module() -> dict[str, Any]:
    made = types.ModuleType("__main__")
    sys.modules["__main__"] = made
    return made.__dict__


NAMES = module()


def described(error: BaseException, page: str) -> dict[str, Any]:
    shown = error.__traceback__
    while shown is not None and shown.tb_frame.f_code.co_filename == __file__:
        shown = shown.tb_next  # our own frames
    frames = traceback.extract_tb(shown)
    lines = [frame.lineno for frame in frames if frame.filename == page]
    owner = getattr(error, "obj", None)
    kind = owner if isinstance(owner, (type, types.ModuleType)) else type(owner)
    name = getattr(error, "name", None)
    before = error.__cause__ or error.__context__
    return {
        "type": type(error).__name__,
        "message": str(error)[:2000],
        "line": lines[-1] if lines else None,
        "place": frames[-1].filename if frames else page,
        "raised": bool(frames) and (frames[-1].line or "").startswith(("raise", "assert")),
        "before": str(before)[:2000] if before is not None else "",
        "name": name if isinstance(name, str) else None,
        "owner": getattr(kind, "__name__", "")
        if isinstance(kind, types.ModuleType)
        else getattr(kind, "__module__", ""),
        "code": error.code
        if isinstance(error, SystemExit) and isinstance(error.code, (int, str, type(None)))
        else None,
        "text": "".join(traceback.format_exception(type(error), error, shown))[-4000:],
    }


def execute(code: str, page: str, line: int, mode: str = "exec", watch: Watch | None = None) -> None:
    tree: Any = ast.parse(code, page, mode)
    ast.increment_lineno(tree, line - 1)
    if watch is None:
        execute_tree(tree, page, mode)
        return
    # Imports run separately, so that changes to the imported modules are noticed.
    compile(tree, page, mode, dont_inherit=True)  # incomplete Python must not run partly
    groups: list[tuple[bool, list[Any]]] = []
    for node in tree.body:
        imports = isinstance(node, (ast.Import, ast.ImportFrom))
        if not groups or groups[-1][0] != imports:
            groups.append((imports, []))
        groups[-1][1].append(node)
    for imports, body in groups:
        try:
            execute_tree(ast.Interactive(body) if mode == "single" else ast.Module(body, []), page, mode)
        finally:
            watch.see(imports)


class Watch:
    """Notes whether anything but imports changes the state of this process."""

    def __init__(self, last: Watch | None) -> None:
        began = time.process_time()
        self.state: Any = last.state if last is not None else State()
        if last is None:
            self.state.take()
        self.seconds = time.process_time() - began  # processor time of tracing
        self.trace = False

    def see(self, imports: bool) -> None:
        began = time.process_time()
        if imports:
            self.state.take()
        else:
            self.trace = self.trace or self.state.changed()
        self.seconds += time.process_time() - began


def execute_tree(tree: Any, page: str, mode: str) -> None:
    compiled = compile(tree, page, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if compiled.co_flags & COROUTINE:
        import asyncio  # slow to import, and few snippets need it

        asyncio.run(eval(compiled, NAMES))
    else:
        exec(compiled, NAMES)


def import_left_out(code: str, modules: list[str]) -> list[str]:
    """Import what a snippet uses and no snippet imports, of the standard library and the project; return the names.

    Pages leave such imports out; without them every such snippet would only be a NameError.
    """
    import builtins

    found: list[str] = []
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return found
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    bound |= {(node.asname or node.name).split(".")[0] for node in nodes if isinstance(node, ast.alias)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for name in sorted(
        {node.id for node in nodes if isinstance(node, ast.Name)} - bound - set(NAMES) - set(dir(builtins))
    ):
        with contextlib.suppress(Exception):
            if name in modules or name in getattr(sys, "stdlib_module_names", ()):
                made = __import__(name)
                if name in called and not callable(made):
                    made = getattr(made, name)  # a function with the name of its module
                NAMES[name] = made
                found.append(name)
                continue
            for module in modules:
                value = getattr(__import__(module), name, None)
                # A module name is more likely a variable of the page: session, config.
                if value is not None and not name.startswith("_") and not isinstance(value, types.ModuleType):
                    NAMES[name] = value
                    found.append(name)
                    break
    return found


def snippet(step: dict[str, Any], watch: Watch | None) -> dict[str, Any]:
    try:
        execute(step["code"], step["page"], step["line"], "exec", watch)
    except BaseException as error:
        return {"error": described(error, step["page"])}
    return {}


def examples(step: dict[str, Any], watch: Watch | None) -> dict[str, Any]:
    import doctest  # slow to import

    found = []
    out = err = 0
    left = [(step["line"] + one.lineno, one) for one in doctest.DocTestParser().get_examples(step["code"])]
    while left:
        line, example = left.pop(0)
        error = None
        skipped = bool(example.options.get(doctest.SKIP))
        try:
            if not skipped:
                execute(example.source, step["page"], line, "single", watch)
        except BaseException as raised:
            error = described(raised, step["page"])
        got, out = printed(OUT, out)
        said, err = printed(ERR, err)
        told = {"line": line, "source": example.source, "want": example.want, "got": got, "error": error}
        found.append({**told, "stderr": said, "expected_error": example.exc_msg, "skipped": skipped})
        if error and example.exc_msg is None:
            break
    return {"examples": found, "left": [[line, example.source] for line, example in left]}


def repeat(imports: list[str]) -> None:
    if not imports:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    for one in imports:
        with contextlib.suppress(Exception):
            exec(one, NAMES)
    flush()


def watched(step: dict[str, Any]) -> bool:
    return bool(step.get("traced")) and "await" not in step["code"] and "__future__" not in step["code"]


def main() -> None:
    orders, answers = os.fdopen(int(sys.argv[1]), "rb"), os.fdopen(int(sys.argv[2]), "wb")
    own = os.getpid()
    sys.argv = ["README"]
    sys.path[0:1] = []
    sys.path.append(os.getcwd())
    watch: Watch | None = None
    for line in orders:
        step = json.loads(line)
        # inspect.getsource and tracebacks need the snippet here.
        shown = step["code"].splitlines()
        if step["kind"] == "doctest":
            shown = [line.lstrip()[4:] if line.lstrip().startswith((">>> ", "... ")) else "" for line in shown]
        code = "\n".join(shown)
        lines = [""] * (step["line"] - 1) + shown
        linecache.cache[step["page"]] = (0, None, [text + "\n" for text in lines], step["page"])
        repeat(step.get("before", ()))
        for number, path in ((1, OUT), (2, ERR)):
            file = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.dup2(file, number)
            os.close(file)
        imported = import_left_out(code, step["modules"])
        # The state after the last snippet is still valid unless imports ran in between.
        known = watch if watch is not None and not watch.trace and not step.get("before") and not imported else None
        watch = Watch(known) if watched(step) else None
        result = examples(step, watch) if step["kind"] == "doctest" else snippet(step, watch)
        if os.getpid() != own:
            os._exit(0)  # a forked child must not answer
        result |= {"imported": imported, "asked": ASKED[:1], "ran": RAN[:1]}
        result["looking"] = watch.seconds if watch is not None else 0.0
        result["trace"] = watch is None or watch.trace or bool(imported)
        flush()
        answer = {"status": 1 if result.get("error") else 0, "timeout": False, **result}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


main()
