"""One page of everything, run in the sandbox: verdicts of blocks, of their parts, and of commands in running text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from planted import write_project

from workbench.checking import BlockResult, CheckResult, check
from workbench.checking.steps import MOST, with_commands
from workbench.claims.page import parse_page
from workbench.claims.project import ProjectIndex
from workbench.commands.check import github, junit, text

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.usefixtures("needs_bubblewrap", "one_cache"),
    pytest.mark.xdist_group("checking"),
]
FETCHED = """

def fetched(url):
    import urllib.request
    try:
        return urllib.request.urlopen(url).read()
    except OSError:
        return ''
"""
TERMINAL = """
import os, sys
if "--plain" in sys.argv:
    print("terminal" if sys.stdout.isatty() else "file")
elif not (sys.stdin.isatty() and sys.stdout.isatty()):
    sys.exit("error: this is not a terminal")
else:
    size = os.get_terminal_size()
    print("size", size.columns, size.lines, os.environ["TERM"], repr(sys.stdin.read()))
    if "--ask" in sys.argv:
        input("Your name? ")
"""
RANDOM = """# wordstat

```pycon
>>> import uuid
>>> str(uuid.uuid4())
'f47ac10b-58cc-4372-a567-0e02b2c3d479'
>>> object()
<object object at 0x7f8a1c0b4e50>
```

```pycon
>>> import datetime
>>> datetime.datetime.now()
datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
>>> 1 + 2
4
```

```pycon
>>> import uuid
>>> str(uuid.uuid5(uuid.NAMESPACE_DNS, 'x'))
'f47ac10b-58cc-4372-a567-0e02b2c3d479'
```

```pycon
>>> object()
<Other object at 0x7f8a1c0b4e50>
```
"""
PAGE = """# wordstat

`wordstat index omega` comes before the blocks; `wordstat report --stopwach` and `wordstat index` do not work, and
`wordstat index WORD` is not whole.

```bash
wordstat index alpha
docker run wordstat
wordstat report
```

```bash
wordstat index gamma --wrong
wordstat index beta
wordstat report --wrong
```

```pycon
>>> from wordstat import top_words
>>> top_words("a b a", limit=1)
['b']
>>> undefined_here
1
>>> top_words("a")
['a']
```

```pycon
>>> from wordstat.counting import fetched
>>> len(fetched('http://example.org/'))
1256
```

```console
$ python -m wordstat.terminal
size 80 24 xterm ''
```

```bash
python -m wordstat.terminal --ask
```

```console
$ python -m wordstat.terminal --plain
file
```
"""
LINES = PAGE.splitlines()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckResult]:
    root = write_project(tmp_path_factory.mktemp("project"))
    with (root / "wordstat" / "counting.py").open("a") as file:
        file.write(FETCHED)
    (root / "wordstat" / "terminal.py").write_text(TERMINAL)
    (root / "README.md").write_text(PAGE)
    (root / "docs" / "random.md").write_text(RANDOM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
        yield asyncio.run(check(root, [root / "README.md", root / "docs" / "random.md"]))


def verdicts(blocks: Sequence[BlockResult]) -> list[str]:
    return [str(block.verdict) for block in blocks]


@pytest.mark.slow
def test_a_value_drawn_at_random_is_known_by_running_twice(found: CheckResult) -> None:
    blocks = [one for one in found.blocks if one.path == "docs/random.md"]
    assert verdicts(blocks) == ["works", "differs", "differs", "differs"]
    assert blocks[1].line == RANDOM.splitlines().index(">>> 1 + 2") + 1


def test_each_command_and_example_has_a_verdict_at_its_own_line(found: CheckResult) -> None:
    mixed, wrong, session = found.blocks[:3]
    first = LINES.index("docker run wordstat")
    assert [(part.line, str(part.verdict)) for part in mixed.parts] == [
        (first, "works"), (first + 1, "not run"), (first + 2, "works"),
    ]  # fmt: skip
    assert str(mixed.verdict) == "works"
    assert mixed.reason.startswith(f"2 of 3 ran; line {first + 1}: docker does not belong to the project")
    assert [(one.line, str(one.verdict), one.command) for one in wrong.alarming] == [
        (LINES.index(command) + 1, "fails", command)
        for command in ("wordstat index gamma --wrong", "wordstat report --wrong")
    ]
    assert [str(part.verdict) for part in session.parts] == ["works", "differs", "not run", "not run"]
    ended = LINES.index(">>> undefined_here") + 1
    assert session.parts[3].reason == f"it comes after line {ended}, which ends the session"


def test_reports_list_each_alarm_at_its_own_line(found: CheckResult) -> None:
    alarms = [str(one.line) for one in found.alarms]
    assert len(alarms) >= 7
    listed = [line.split(":")[1] for line in text(found) if re.match(r"(?:README|docs/random)\.md:", line)]
    assert listed == alarms
    assert len([line for line in github(found) if line.startswith("::error ")]) == len(alarms)
    line = LINES.index("wordstat report --wrong") + 1
    assert "\n".join(junit(found)).count(f"README.md:{line}: fails") == 1


def test_what_asked_for_a_network_and_went_on_without_is_no_alarm(found: CheckResult) -> None:
    block = found.blocks[3]
    assert [str(part.verdict) for part in block.parts] == ["works", "not run"]
    assert block.parts[1].reason.startswith("it requested a network")


def test_a_program_that_wants_a_terminal_has_one(found: CheckResult) -> None:
    assert verdicts(found.blocks[4:7]) == ["works", "not run", "works"]
    assert "terminal" in found.blocks[5].reason


def test_commands_in_text_run_after_the_blocks(found: CheckResult) -> None:
    commands = [(block.parts[0].code, str(block.verdict)) for block in found.blocks if block.kind == "command"]
    assert commands == [
        ("wordstat index omega", "works"),
        ("wordstat report --stopwach", "fails"),
        ("wordstat index", "not run"),
        ("wordstat index WORD", "not run"),
    ]


def test_mentions_are_no_commands(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path))
    mentions = (
        "Run `wordstat`, `wordstat report --stopwatch`, `python -m wordstat.cli index a`, `python x.py`, `git commit -a`,"
        " `$ wordstat report`, `wordstat a | sort` or\n`wordstat report`.\n\n```sh\nwordstat index a\n```\n\n`wordstat index a`.\n"
    )
    page = with_commands(parse_page(mentions, "README.md"), project)
    assert [(code.code, code.line) for code in page.codes if code.inline] == [
        ("wordstat report --stopwatch", 1),
        ("python -m wordstat.cli index a", 1),
        ("wordstat report", 1),
    ]
    many = with_commands(parse_page("\n".join(f"- `wordstat index a{n}`" for n in range(99)), "README.md"), project)
    assert len(many.codes) == MOST


@pytest.mark.slow
def test_one_that_serves_takes_three_seconds_and_what_follows_goes_on(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    program = (root / "wordstat/cli.py").read_text()
    served = "    if 'ever' in sys.argv:\n        import time; time.sleep(99)\n    place = "
    (root / "wordstat/cli.py").write_text(program.replace("    place = ", served))
    (root / "README.md").write_text("# a\n\n`wordstat index ever` and `wordstat index alpha`.\n")
    found = asyncio.run(check(root, [root / "README.md"]))
    assert verdicts(found.blocks) == ["not run", "works"]
    assert found.blocks[0].parts[0].seconds < 8
