"""A block's verdict follows from those on its commands and examples, each of which has its own line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from planted import write_project

from workbench.checking import Checked, Verdict, check
from workbench.commands.check import github, junit, text

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.usefixtures("needs_bubblewrap", "one_cache"),
    pytest.mark.xdist_group("checking"),
]

PAGE = """# wordstat

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
"""


def checked(root: Path) -> Checked:
    (write_project(root) / "README.md").write_text(PAGE)
    return asyncio.run(check(root))


def test_each_command_and_example_has_a_verdict_at_its_own_line(tmp_path: Path) -> None:
    found = checked(tmp_path)
    mixed, wrong, session = found.blocks
    assert [(part.line, str(part.verdict)) for part in mixed.parts] == [(4, "works"), (5, "not run"), (6, "works")]
    assert mixed.verdict is Verdict.WORKS
    assert mixed.reason.startswith("2 of 3 ran; line 5: docker is not the project's")
    assert [(one.line, str(one.verdict), one.command) for one in wrong.alarming] == [
        (10, "fails", "wordstat index gamma --wrong"),
        (12, "fails", "wordstat report --wrong"),
    ]
    assert [(part.line, str(part.verdict)) for part in session.parts] == [
        (16, "works"),
        (17, "differs"),
        (19, "not run"),
        (21, "not run"),
    ]
    assert session.parts[3].reason == "it comes after line 19, at which the session ends"
    lines = [line.split(":")[1] for line in text(found) if ": fails:" in line or ": differs:" in line]
    assert lines == ["10", "12", "17"]
    assert len([line for line in github(found) if line.startswith("::error ") and "untrue" not in line]) == 3
    assert "\n".join(junit(found)).count("README.md:12: fails") == 1


def test_what_asked_for_a_network_and_went_on_without_is_no_alarm(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    with (root / "wordstat" / "__init__.py").open("a") as file:
        file.write(
            "\n\ndef fetched(url):\n    import urllib.request\n    try:\n        return urllib.request.urlopen(url).read()\n"
            "    except OSError:\n        return ''\n"
        )
    (root / "README.md").write_text(
        "```pycon\n>>> from wordstat import fetched\n>>> len(fetched('http://example.org/'))\n1256\n```\n"
    )
    block = asyncio.run(check(root)).blocks[0]
    assert [str(part.verdict) for part in block.parts] == ["works", "not run"]
    assert block.parts[1].reason.startswith("it asked for a network")
