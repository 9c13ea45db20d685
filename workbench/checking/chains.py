"""Which steps of a page may be run apart from the others, in a sandbox of their own, while the page is run in order.

A chain is steps that have to be run together and in order: snippets of Python with what binds the names that they use, or one command
for a shell. What is proposed here is what a look at the page does not exclude. Whether a chain depended on nothing, and left nothing
behind, is seen when it is run: see :mod:`.executing` and ``inside/traces.py``.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from workbench.checking.kinds import python_of
from workbench.checking.name_flow import Names, names_of
from workbench.checking.shell_commands import simple_commands
from workbench.checking.steps import Plan, Step

#: Commands after which the place to work in, its files or variables are others.
_CHANGES = frozenset(
    {
        "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "alias", "local", "read", "declare", "umask", "exit",
        "cp", "mv", "rm", "mkdir", "rmdir", "touch", "tee", "ln", "chmod", "tar", "gzip", "gunzip", "zip", "unzip",
    }
)  # fmt: skip
_WRITES = re.compile(
    r"\b(?:chdir|environ|putenv|write_text|write_bytes|mkdir|makedirs|touch|unlink|rename|rmtree)\b|"
    r"\bopen\([^()]*['\"][wax]b?\+?['\"]"
)


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps that are run together.

    Attributes:
        steps: Their places in the plan, in order.
        imports: Places of earlier snippets whose imports they use; those have to have gone well.
    """

    steps: tuple[int, ...]
    imports: tuple[int, ...] = ()


def imports_of(step: Step) -> tuple[str, ...]:
    """Return the imports of a snippet or session that are repeated where it is not run."""
    return _names(step).repeated


def chains_of(plan: Plan) -> tuple[Chain, ...]:
    """Return the chains of a page that may be run apart, in the order of their first steps."""
    run = [(at, step) for at, step in enumerate(plan.steps) if step.kind != "settled"]
    first_change = next((at for at, step in run if _changes(step)), len(plan.steps))
    pythons = {at: _names(step) for at, step in run if step.kind != "shell"}
    members = {at: {at} for at in pythons}
    imports: dict[int, set[int]] = {at: set() for at in pythons}
    for at, names in pythons.items():
        for before, others in pythons.items():
            if before >= at:
                break
            if names.open or others.open or others.binds & names.needs:
                _join(members, before, at)
            # What a snippet binds and an import repeated in its place binds again, or the other way round, is one matter.
            if others.binds & names.imports or others.imports & names.binds:
                _join(members, before, at)
            if others.imports & names.needs:
                imports[at].add(before)
    found = [Chain((at,)) for at, step in run if step.kind == "shell" and at < first_change]
    for chain in {id(one): one for one in members.values()}.values():
        if max(chain) < first_change and not any(pythons[at].open for at in chain):
            used = {one for at in chain for one in imports[at]} - chain
            found.append(Chain(tuple(sorted(chain)), tuple(sorted(used))))
    return tuple(sorted(found, key=lambda chain: chain.steps[0]))


def _join(members: dict[int, set[int]], one: int, other: int) -> None:
    if members[one] is not members[other]:
        whole = members[one]
        whole |= members[other]
        for at in whole:
            members[at] = whole


def _changes(step: Step) -> bool:
    """Tell whether a step is seen to change what comes after it in more than names of Python."""
    if step.kind != "shell":
        return _WRITES.search(step.code) is not None
    parts = simple_commands(step.code)
    if parts is None or ">" in step.code or "&" in step.code.replace("&&", "").replace("2>&1", ""):
        return True
    assigned = re.match(r"\s*[A-Za-z_]\w*=\S*\s*$", step.code)
    return assigned is not None or any(words[0] in _CHANGES for words in parts)


def _names(step: Step) -> Names:
    code = typed(step.code) if step.kind == "doctest" else step.code
    tree = python_of(code)
    if tree is None:
        return Names(open=True)
    if any(isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) for node in ast.walk(tree)):
        return Names(open=True)
    found = names_of(tree, code)
    if step.kind == "doctest" and not found.open:
        # What a session shows last is ``_`` for those after it.
        found = Names(found.binds | {"_"}, found.imports, found.needs, found.repeated)
    return found


def typed(code: str) -> str:
    """Return what is typed in a session, a snippet as it is."""
    lines = [line.lstrip() for line in code.splitlines()]
    found = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
    return "\n".join(found) if found else code
