"""Real processes under wrong surroundings: streams and limits that only the system gives."""

from __future__ import annotations

from faults.wrong import EXAMPLE, REGENERATE, RUN, Wrong

CLOSED = ("standard output is closed",)
FULL = ("standard output cannot be written", "no space left")
FEW = ("Only 16 files may be open",)
OUTPUTS = ("cases", "locate", f"show {EXAMPLE}", f"report {EXAMPLE}", "catalog", "--help", "--version")
SYSTEM = (
    *(Wrong((), CLOSED, shell=f"$W {command} >&-") for command in (*OUTPUTS, "doctor", " ".join(RUN), "open")),
    *(
        Wrong((), FULL, 1, shell=f"$W {command} >/dev/full")
        for command in (*OUTPUTS, f"show {EXAMPLE} --json", "cases --json")
    ),
    *(
        Wrong((), ("needs a terminal",), shell=f"$W {line}")
        for line in (
            "open </dev/null | cat; exit ${PIPESTATUS[0]}",
            "</dev/null",
            "open <&-",
            "2>&1 1>/dev/null </dev/null",
            "open example </dev/null",
        )
    ),
    *(
        Wrong((), FEW, 1, shell=f"ulimit -n 16; $W {' '.join(order)}")
        for order in (RUN, REGENERATE, ("tasks", "word_counter"), ("rerun", EXAMPLE, "c056"))
    ),
    Wrong((), ("is a pipe",), shell="$W score <(echo '# x')"),
    Wrong((), ("is a pipe",), shell="echo '# x' | $W score /dev/stdin"),
    Wrong((), ("is a pipe",), shell="$W regenerate word_counter --evaluator samples:<(echo {})"),
    Wrong((), ("is a pipe",), shell="$W tasks show <(echo {})"),
    Wrong((), ("settings file", "is a folder"), shell='mkdir -p "$WORKBENCH_CONFIG_DIR/config.toml"; $W model'),
    Wrong(
        (),
        ("settings file", "is a pipe"),
        shell='mkdir -p "$WORKBENCH_CONFIG_DIR"; mkfifo "$WORKBENCH_CONFIG_DIR/config.toml"; $W model',
    ),
    Wrong((), ("for --session is empty",), shell='unset NAME; $W run word_counter --session "$NAME"'),
    Wrong((), ("does not exist",), shell="cd empty-later 2>/dev/null; $W regenerate ./nowhere --evaluator reference"),
    Wrong((), ("no test case",), shell="env -u HOME $W cases nosuch"),
    Wrong((), ("no test case",), shell="HOME= LANG=C LC_ALL=C COLUMNS=0 $W cases nosuch"),
    Wrong((), ("no test case",), shell="TMPDIR=/nowhere COLUMNS=1 TERM= $W cases nosuch"),
    Wrong((), ("no test case",), shell="PYTHONIOENCODING=ascii $W cases $'nosuch\\xc3\\xa9'"),
)
