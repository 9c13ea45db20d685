"""The rungs of the judge's validity ladder: documents that are worse than a project's real README, each in one known way."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.catalog import Facts
from workbench.repository import View

_HEADING = re.compile(r"^(?:#{1,6} .+|[^\n]{3,80}\n(?:={3,}|-{3,}|~{3,}|\^{3,})[ \t]*)$", re.M)
_NAME = re.compile(r"(?<![\w-])(?:--[a-z][\w-]+|[a-z]\w*_\w+|[a-z]\w*(?=\()|[A-Z][a-z]+[A-Z]\w+)")
_COPULA = re.compile(r"\b(is|are|can|will)\b")
_VERB = re.compile(r"(?<=\s)(provides?|generates?|counts?|converts?|makes?|lets?|prints?|takes?|reads?|works?)\b", re.I)


@dataclass(frozen=True)
class Project:
    """One project of the ladder: its real README, the facts about it and the repository without documentation."""

    name: str
    readme: str
    facts: Facts
    view: View
    held_out: bool = False


def names_in(text: str) -> list[str]:
    """Return the names of options, functions and classes that a README shows, in order."""
    return list(dict.fromkeys(_NAME.findall(text)))


def _parts(readme: str) -> list[str]:
    starts = [match.start() for match in _HEADING.finditer(readme)]
    return [readme[a:b] for a, b in zip([0, *starts], [*starts, len(readme)], strict=True) if readme[a:b]]


def half(project: Project, _: Project) -> str:
    """Return the first half."""
    return project.readme[: len(project.readme) // 2]


def sections_removed(project: Project, _: Project) -> str:
    """Return the README without every second section, the first two parts kept."""
    parts = _parts(project.readme)
    return "".join(part for index, part in enumerate(parts) if index < 2 or index % 2)


def facts_swapped(project: Project, other: Project) -> str:
    """Return the README with every second name another project's and every number another number."""
    mine, theirs = names_in(project.readme), names_in(other.readme) or ["frobnicate", "--frob", "Frobnicator"]
    text = project.readme
    for index, name in enumerate(mine[::2]):
        same = [word for word in theirs if word.startswith("--") == name.startswith("--") and word not in mine]
        new = same[index % len(same)] if same else f"{name}_gone"
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", lambda _, new=new: new, text)  # type: ignore[misc]
    text = re.sub(r"(?<![\w.])\d{1,4}(?![\w.])", lambda match: str(int(match.group()) + 7), text)
    for name in project.facts.dependencies:
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "frobnicator", text)
    return text


def opening_negated(project: Project, _: Project) -> str:
    """Return the README whose first sentence says that it is not so."""
    for match in re.finditer(r"^(?![#=\-~|.\[!<>\s:])[^\n]{25,}(?!\n(?:={3}|-{3}|~{3}))", project.readme, re.M):
        line = match.group()
        found = _COPULA.search(line)
        if found:
            new = line[: found.end()] + " not" + line[found.end() :]
        elif (found := _VERB.search(line)) is not None:
            new = line[: found.start()] + "does not " + found.group() + line[found.end() :]
        else:
            new = f"{project.name} does not " + line[0].lower() + line[1:]
        return project.readme[: match.start()] + new + project.readme[match.end() :]
    return project.readme


def another(_: Project, other: Project) -> str:
    """Return another project's README."""
    return other.readme


def another_renamed(project: Project, other: Project) -> str:
    """Return another project's README with this project's name in it."""
    return re.sub(rf"(?<![\w]){re.escape(other.name)}(?![\w])", project.name, other.readme, flags=re.I)


def filler(project: Project, _: Project) -> str:
    """Return a README that would fit every project: right headings, right form, the project's name, nothing else."""
    name = project.name
    return f"""# {name}

{name} is a powerful and flexible tool that helps you get more done with less effort. It is easy to use, well
tested and works on all common platforms.

## Features

- Simple and intuitive interface
- Fast and reliable results
- Works out of the box with sensible defaults
- Easy to extend and to customize

## Installation

Only the standard library is used, so that no other packages are needed.

```bash
pip install {name}
```

## Usage

Run it from the command line, or import it in your own programs:

```bash
python -m {name} --help
```

```python
import {name}
```

| option | meaning |
|---|---|
| `--help` | show the help and exit |
| `--version` | show the version |

## Examples

The following example shows how to get started:

```bash
python -m {name} input.txt
```

## API reference

The public functions are documented in the source code. See the documentation for details on all of the options.

## License

This project is free software. Contributions are welcome.
"""


def _skeleton(project: Project, purpose: str, features: Sequence[str], usage: str) -> str:
    facts = project.facts
    install = " ".join(facts.dependencies) or project.name
    bullets = "\n".join(f"- {feature}" for feature in features)
    return (
        f"# {project.name}\n\n{purpose}\n\n## Features\n\n{bullets}\n\n## Installation\n\n```bash\npip install {install}\n"
        f"```\n\n## Usage\n\n{usage}\n\n```bash\n{facts.run_command}\n```\n\n## API reference\n\n"
        + "\n".join(f"- `{word}`: {feature}" for word, feature in zip(facts.must_mention, features, strict=False))
        + "\n"
    )


def keywords(project: Project, _: Project) -> str:
    """Return lists of the facts' words, no sentence among them."""
    facts = project.facts
    words = sorted(set(re.findall(r"[\w-]{3,}", " ".join((facts.main_purpose, *facts.key_features)))))
    lines = "\n".join(f"- {word}" for word in words)
    joined = ", ".join((*words, *facts.must_mention))
    return f"# {project.name}\n\n{joined}\n\n## Features\n\n{lines}\n\n## Installation\n\n{', '.join(facts.dependencies)}\n\n## Usage\n\n{joined}\n"


def shuffled_words(project: Project, _: Project) -> str:
    """Return a skeleton with right commands, its sentences the facts' words in random order."""
    facts = project.facts
    words = " ".join((facts.main_purpose, *facts.key_features)).replace(".", "").split()
    dice = random.Random(project.name)

    def sentence(length: int) -> str:
        picked = dice.sample(words, min(length, len(words)))
        return " ".join(picked).capitalize() + "."

    return _skeleton(
        project,
        f"{sentence(14)} {sentence(12)}",
        [sentence(8) for _ in facts.key_features],
        f"{sentence(10)} {sentence(10)}",
    )


def wrong_subjects(project: Project, _: Project) -> str:
    """Return a skeleton with right commands in which what is said of one thing is true of another one."""
    facts = project.facts
    features = list(facts.key_features)
    heads = [feature.split()[0] for feature in features]
    tails = [" ".join(feature.split()[1:]) for feature in features]
    swapped = [f"{head} {tails[(index + 1) % len(tails)]}" for index, head in enumerate(heads)]
    names = [*facts.must_mention[1:], *facts.must_mention[:1]]
    purpose = f"{project.name} {tails[-1] or 'is a tool'}, and {tails[0]}."
    usage = " ".join(f"Use {name} when {swapped[index % len(swapped)]}." for index, name in enumerate(names))
    return _skeleton(project, purpose, swapped, usage)


def nonsense(project: Project, _: Project) -> str:
    """Return one word again and again under all the right headings, as a small model behind a grammar may say it."""
    line = "xtr " * 12
    said = f"It {line.strip()}."
    return _skeleton(project, f"{project.name} is a {line.strip()}. {said}", [f"Returns {line.strip()}."] * 3, said)


def empty_skeleton(project: Project, _: Project) -> str:
    """Return the headings and commands alone."""
    return _skeleton(project, "", [""] * 3, "")


RUNGS: dict[str, Callable[[Project, Project], str]] = {
    "cut in half": half,
    "sections removed": sections_removed,
    "facts swapped": facts_swapped,
    "opening negated": opening_negated,
    "another's README": another,
    "another's, renamed": another_renamed,
    "filler": filler,
    "keywords": keywords,
    "shuffled words": shuffled_words,
    "wrong subjects": wrong_subjects,
    "nonsense": nonsense,
    "empty skeleton": empty_skeleton,
}
LIMITED = (
    "another's README",
    "another's, renamed",
    "filler",
    "keywords",
    "shuffled words",
    "nonsense",
)
"""Rungs that may have at most 35 of the 60 judged points."""
MOST = 35.0
