"""Wrong sessions, items of them, and files: what is not there, or not what it seems."""

from __future__ import annotations

from faults.wrong import EXAMPLE, LONG, REGENERATE, RUN, Arguments, Wrong

# -- sessions: every command that takes one, with every text that names none

NO_SESSION: tuple[tuple[str, Arguments], ...] = (
    ("", ("is empty",)),
    ("  ", ("is empty",)),
    (".", ("names a folder",)),
    ("..", ("names a folder",)),
    ("/", ("names a folder",)),
    ("a/..", ("names a folder",)),
    ("own.session/", ("names a folder",)),
    (LONG, ("too long",)),
    ("a\nb", ("control characters",)),
    ("a\x1b[31m", ("control characters",)),
    ("\udcff", ("broken characters",)),
    ("~nosuchuser/x", ("home folder",)),
    (".session", ("no name before its ending",)),
)
NOT_THERE: tuple[tuple[str, Arguments], ...] = (
    ("nosuch", ("There is no session",)),
    ("folder", ("is a folder",)),
    ("~CWD", ("is a folder",)),
    ("pipe", ("is a pipe",)),
    ("/dev/zero", ("is a device",)),
    ("socket", ("is a socket",)),
    ("loop", ("There is no session",)),
    ("dangling", ("There is no session",)),
    ("[/x]", ("There is no session",)),
)
READERS: tuple[Arguments, ...] = (("show",), ("report",), ("resume",), ("cancel",), ("rerun",))
SESSIONS = (
    *(
        Wrong((*command, text, *(("x",) if command == ("rerun",) else ())), words)
        for command in READERS
        for text, words in (*NO_SESSION, *NOT_THERE)
    ),
    *(Wrong((*order, "--session", text), words) for order in (RUN, REGENERATE) for text, words in NO_SESSION),
    *(
        Wrong((*order, "--session", text), words, code)
        for order in (RUN, REGENERATE)
        for text, words, code in (
            ("~CWD", ("is a folder",), 2),
            ("./folder", ("is a folder",), 2),
            ("/dev/null/x/y.session", ("cannot be made",), 1),
            ("./fake.session", ("is not a workbench session",), 1),
        )
    ),
    *(
        Wrong((command, "fake.session", *more), ("not a workbench session",), 1)
        for command, *more in (("show",), ("report",), ("resume",), ("cancel",), ("rerun", "x"))
    ),
    *(
        Wrong((command, "notes.txt", *more), ("not a workbench session",), 1)
        for command, *more in (("show",), ("report",), ("resume",), ("cancel",), ("rerun", "x"))
    ),
    *(
        Wrong((*RUN[:2], "--model", f"replay:{text}", "--judge", "offline"), words)
        for text, words in (
            ("", ("is empty",)),
            ("nosuch", ("no session",)),
            ("pipe", ("is a pipe",)),
            ("own", ("no recorded trials",)),
        )
    ),
    *(
        Wrong((*REGENERATE[:2], "--evaluator", f"replay:{text}"), words)
        for text, words in (
            ("", ("is empty",)),
            ("nosuch", ("no session",)),
            ("own", ("no answers of an evaluator",)),
            ("~CWD", ("is a folder",)),
        )
    ),
    Wrong((*RUN[:4], "--judge", "replay:"), ("is empty",)),
    Wrong((*RUN[:4], "--judge", "replay:nosuch"), ("no session",)),
    Wrong(("score", "README.md", "--judge", "replay:example"), ("no recording of this document",)),
)

# -- items and runs of a session

ITEMS = (
    *(
        Wrong((command, EXAMPLE, option, ""), ("is empty",))
        for command, option in (("cancel", "--run"), ("resume", "--run"), ("report", "--item"))
    ),
    *(
        Wrong((command, EXAMPLE, option, "nosuch"), ("has no",))
        for command, option in (("cancel", "--run"), ("resume", "--run"), ("report", "--item"))
    ),
    Wrong(("show", EXAMPLE, ""), ("is empty",)),
    Wrong(("show", EXAMPLE, "nosuch"), ("has no item",)),
    Wrong(("show", EXAMPLE, "nosuch:1"), ("has no item",)),
    Wrong(("show", EXAMPLE, ":1"), ("has no item",)),
    Wrong(("show", EXAMPLE, "[/x]"), ("has no item",)),
    Wrong(("rerun", EXAMPLE), ("Name an item",)),
    Wrong(("rerun", EXAMPLE, ""), ("is empty",)),
    Wrong(("rerun", EXAMPLE, "nosuch"), ("example.session has no",)),
    Wrong(("rerun", "own.session", "nosuch"), ("has no",)),
    Wrong(("rerun", "own.session", "--failed"), ("are for regeneration runs",)),
    Wrong(("rerun", EXAMPLE, "*", "--model", "nosuch/model"), ("no provider",)),
    Wrong(("rerun", EXAMPLE, "*", "--engine", "dask://nowhere"), ("There is no engine",)),
    Wrong(("resume", "own.session", "--engine", "dask://127.0.0.1:8786"), ("no regeneration run",)),
    Wrong(("resume", "own.session", "--engine", "tcp://x"), ("There is no engine",)),
    Wrong(("report", EXAMPLE, "--format", "pdf"), ("There is no report format",)),
    Wrong(("import", "README.md", "--format", "nosuch"), ("There is no importer",)),
    Wrong(("import", "README.md", "--format", "nosuch:Class"), ("There is no importer", "no module nosuch")),
    Wrong(("report", EXAMPLE, "-o", "folder"), ("is a folder",)),
    Wrong(("report", EXAMPLE, "-o", "own.session"), ("is a session file",)),
    Wrong(("report", EXAMPLE, "-o", ""), ("is empty",)),
    Wrong(("report", EXAMPLE, "-o", "~nosuchuser/x"), ("home folder",)),
    Wrong(("report", EXAMPLE, "-o", "nowhere/x.md"), ("does not exist",), 1),
)

# -- files that are not what they seem

NOT_READ: tuple[tuple[str, Arguments], ...] = (
    ("nowhere", ("cannot be read", "does not exist")),
    ("folder", ("is a folder",)),
    ("pipe", ("is a pipe", "save")),
    ("socket", ("is a socket",)),
    ("/dev/zero", ("is a device",)),
    ("/dev/null", ("is a device",)),
    ("huge", ("2,000,000,000 bytes",)),
    ("loop", ("cannot be read",)),
    ("dangling", ("does not exist",)),
    ("README.md/x", ("does not exist",)),
    (LONG, ("cannot be read",)),
)
FILES = (
    *(Wrong(("score", name, "--judge", "offline"), words) for name, words in (*NOT_READ, ("binary", ("binary file",)))),
    *(Wrong(("score", "README.md", "--judge", "offline", "--metadata", name), words) for name, words in NOT_READ),
    *(
        Wrong((*REGENERATE[:2], "--evaluator", f"samples:{name}"), words)
        for name, words in (
            *NOT_READ,
            ("", ("is a folder",)),
            ("binary", ("line 1", "not JSON")),
            ("latin1", ("not text in UTF-8",)),
            ("empty", ("is empty",)),
            ("text.jsonl", ("line 1", "not JSON")),
            ("numbers.jsonl", ("line 1", "as texts")),
            ("deep.jsonl", ("line 1", "nested")),
            ("list.jsonl", ("line 1", "task_id")),
        )
    ),
    *(
        Wrong(("tasks", "show", name), words)
        for name, words in (
            ("nowhere", ("no dataset",)),
            ("folder", ("holds no dataset",)),
            ("pipe", ("is a pipe",)),
            ("/dev/zero", ("is a device",)),
            ("socket", ("is a socket",)),
            ("binary", ("not text in UTF-8",)),
            ("text.jsonl", ("not JSON",)),
            ("rows.jsonl", ("no row of a dataset",)),
            ("endless.jsonl", ("no row of a dataset",)),
            ("list.jsonl", ("no row of a dataset",)),
            ("newer.jsonl", ("newer version",)),
            ("deep.jsonl", ("nested",)),
        )
    ),
    Wrong(("score", "README.md", "--rubric", "nosuch"), ("no rubric",)),
    Wrong(("score", "README.md", "--case", "nosuch"), ("no test case",)),
    Wrong(("score", "README.md", "--case", ""), ("is empty",)),
    Wrong(("score",), ("required",)),
    Wrong(("score", ""), ("is empty",)),
    Wrong(("score", "README.md", "--metadata", ""), ("is empty",)),
)
