"""Commands in running text: ``run `wordstat report --wide` ``. They are run after the page's blocks, each for itself.

Most are mentions, not steps: of what they do to files nothing else on the page may depend, and one that needs more than the page gives
is *not run*. A mention of a bare program is no command.
"""

from __future__ import annotations

import re
from dataclasses import replace

from workbench.checking.page import Code, Page, Span
from workbench.checking.project import Project
from workbench.checking.shell_commands import commands_of, simple_commands

#: So many of a page are run, each for so many seconds: some start servers, and a page that mentions hundreds is no tutorial.
MOST = 20
SECONDS = 3.0
_PYTHON = re.compile(r"python[\d.]*|py")


def with_commands(page: Page, project: Project) -> Page:
    """Return a page whose blocks are followed by the commands of the project in running text, each once, as blocks of their own.

    What a block has as well is left to the block.
    """
    known = {command.text.strip() for code in page.codes for command in commands_of(code.code)}
    found: list[Code] = []
    for span in page.spans:
        text = " ".join(span.text.removeprefix("$ ").split())
        if text not in known and _is_command(text, project) and len(found) < MOST:
            known.add(text)
            found.append(_block(page, span, text))
    return replace(page, codes=(*page.codes, *found)) if found else page


def _is_command(text: str, project: Project) -> bool:
    """Tell whether a text is one command of the project's with what it is told, as ``python -m`` with a module of its is."""
    commands = simple_commands(text) if " " in text and len(text) < 200 else None
    if commands is None or len(commands) != 1:
        return False
    words = commands[0]
    if _PYTHON.fullmatch(words[0]):
        return len(words) > 2 and words[1] == "-m" and words[2].split(".")[0] in project.modules
    return words[0] in project.declared.scripts and len(words) > 1


def _block(page: Page, span: Span, text: str) -> Code:
    before = [code for code in page.codes if code.line <= span.line]
    section = before[-1].section if before else 0
    elsewhen = next((said for first, last, said in page.another_time if first <= span.line <= last), "")
    return Code(span.line, text, "", False, span.around, section=section, another_time=elsewhen, inline=True)
