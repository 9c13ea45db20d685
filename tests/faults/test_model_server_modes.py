"""A model server that misbehaves in every known way: the gateway asked directly, and ``workbench regenerate`` for real.

The gateway is asked in all modes, the command line in some of every kind (in all by ``make test-all``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults.model_server import ANSWER, BY_NAME, MODES, Mode, serving
from sweeps import ALL, spread

from workbench.models import CallRecord, Limits, Message, ModelError, Request, Sampling
from workbench.models.gateway import Gateway
from workbench.models.types import EmptyAnswer
from workbench.session import SessionReader

pytestmark = pytest.mark.slow
KEY = "sk-live-0123456789abcdef"
QUICK = Limits(timeout_s=1.0, total_s=4.0, tries=2, backoff_s=0.01, longest_wait_s=0.5)
_LIBRARY = re.compile(r"Traceback|site-packages|litellm|pydantic|File \"|defect of the workbench", re.IGNORECASE)


class Log:
    """Keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> None:
        return None

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)


def _ask() -> Request:
    return Request("openai/x", (Message("user", "Hi"),), "evaluator", Sampling(temperature=1.0))


async def _warm(log: Log) -> None:
    # The first request of a process loads parts of LiteLLM for seconds; the limits below are meant for the server.
    with serving(BY_NAME["finish-reason-null"]) as base_url:
        await Gateway(log, Limits(), base_url=base_url).complete(_ask())


def test_the_table_has_at_least_58_modes_with_names_of_their_own() -> None:
    assert len({mode.name for mode in MODES}) == len(MODES) >= 58


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
async def test_the_gateway_names_what_the_server_did(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    await _warm(Log())
    log = Log()
    said, kind, error = "", ANSWER, None
    with serving(mode) as base_url:
        began = time.monotonic()
        try:
            answer = await Gateway(log, QUICK, base_url=base_url).complete(_ask())
            said = answer.text
            assert answer.usage.prompt_tokens >= 0
            assert max(answer.usage.prompt_tokens, answer.usage.completion_tokens) < 2**31
            assert len(answer.model) <= 200
            assert answer.model.isprintable()
            assert len(answer.finish_reason) <= 200
        except ModelError as raised:
            error = raised
            said, kind = str(raised), "empty" if isinstance(raised, EmptyAnswer) else raised.kind
        took = time.monotonic() - began
    assert kind == mode.expect, said
    if error is not None:
        assert mode.words in said or mode.expect == "empty"
        assert error.lasting == mode.lasting
        assert not _LIBRARY.search(said) or mode.name == "500-with-a-traceback"
        assert said == " ".join(said.split())
        assert len(said) < 500
    assert took < 8, f"{took:.1f} s"
    assert KEY not in repr(log.calls) + said
    # Each response was billed, also one that is followed by another try.
    *billed, _ = log.calls
    assert len(billed) < QUICK.tries
    assert all(one.error is not None and one.error.usage is not None for one in billed)


# -- for real

_SAMPLE = tuple(
    mode for n, mode in enumerate(MODES) if mode.name not in {"drips"} and (mode.expect, mode.words, mode.lasting) not in
    {(other.expect, other.words, other.lasting) for other in MODES[:n]}
) + tuple(
    BY_NAME[name]
    for name in (
        *("usage-10^30", "usage-negative", "usage-missing", "model-is-the-key", "model-controls", "finish-reason-unknown"),
        *("answer-echoes-the-key", "reasoning-echoes-the-key", "error-echoes-the-key", "answer-of-brackets"),
        *("answer-is-deep-json", "answer-with-surrogates", "answer-with-nuls", "answer-with-markup", "500-of-5-MB"),
    )
)  # fmt: skip
REAL = MODES if ALL else spread(tuple(dict.fromkeys(_SAMPLE)), 4)


@pytest.fixture(scope="module")
def folders(needs_bubblewrap: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the command line; the tasks of word_counter are built once for all modes."""
    folder = tmp_path_factory.mktemp("modes")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WORKBENCH_", "OPENAI_"))}
    environment |= {
        f"WORKBENCH_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    environment |= {"OPENAI_API_KEY": KEY, "COLUMNS": "200", "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = _workbench(environment, folder, "regenerate", "word_counter", "--evaluator", "stub", "--no-controls")
    assert done.returncode == 0, done.stdout + done.stderr
    return environment


def _workbench(environment: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workbench", *words],
        env=environment, cwd=folder, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def _everything_written(folder: Path, session: Path) -> bytes:
    """Return all bytes that a run left: the file, its blobs unpacked, the logs, the reports."""
    found = [session.read_bytes()]
    with SessionReader(session) as reader:
        found += [reader.data(digest) for (digest,) in reader.query("SELECT digest FROM blobs")]
    found += [file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.suffix != ".session"]
    return b"\n".join(found)


@pytest.mark.sandbox
@pytest.mark.network
@pytest.mark.parametrize("mode", REAL, ids=lambda mode: mode.name)
def test_regenerate_says_why_and_loses_nothing(mode: Mode, folders: dict[str, str], tmp_path: Path) -> None:
    impatient = mode.name in {"drips", "never-answers"}
    environment = folders | {
        "WORKBENCH_STATE_DIR": str(tmp_path / "state"),
        "WORKBENCH_MAX_TRIES": "2",
        "WORKBENCH_REQUEST_TIMEOUT": "2" if impatient else "60",
        "WORKBENCH_REQUEST_TOTAL_TIME": "120",
    }
    session = tmp_path / "mode.session"
    words = ("--limit", "2", "--samples", "1", "--evaluator", "openai/x", "--no-controls", "--session", str(session))
    with serving(mode) as base_url:
        done = _workbench(
            environment | {"WORKBENCH_BASE_URL": base_url}, tmp_path, "regenerate", "word_counter", *words
        )
    said = " ".join((done.stdout + done.stderr).split())
    good = mode.expect in (ANSWER, "empty")
    assert done.returncode == (0 if good else 1), said
    assert not _LIBRARY.search(said) or mode.name == "500-with-a-traceback"
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        candidates = [row for row in reader.candidates(run.id) if row.evaluator == "openai/x"]
        calls = [call for row in candidates for call in reader.calls(row.id)]
    assert len(candidates) == 2
    if good:
        assert {row.verdict for row in candidates} <= {"passed", "failed", "crashed", "invalid", "timeout"}
        assert all(row.verdict for row in candidates)
        assert len(calls) == 2
        assert "error" not in done.stderr
    elif mode.expect == "key":
        # Nobody waits for more of it: the first one ends the run, and nothing is called the model's fault.
        assert mode.words in done.stderr
        assert run.error
        assert mode.words in run.error
    else:
        assert [row.verdict for row in candidates] == ["error", "error"]
        assert all(mode.words in (row.verdict_reason or "") for row in candidates)
        assert re.search(r"1 error: \S", done.stderr), done.stderr
        assert re.search(r"2 errors: \S", done.stdout), done.stdout
        assert mode.words in done.stderr
    if "key" in mode.name or mode.expect == "key":
        for name in ("md", "html", "json", "csv"):
            told = _workbench(
                environment, tmp_path, "report", str(session), "--output", str(tmp_path / f"report.{name}")
            )
            assert told.returncode == 0, told.stderr
            assert (tmp_path / f"report.{name}").stat().st_size
        assert KEY.encode() not in _everything_written(tmp_path, session) + said.encode()
