"""Determine which stable tests execute which function, and how much of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.regeneration.suite import Suite
from workbench.repository.functions import Function


@dataclass(frozen=True, slots=True)
class FunctionTrace:
    """The tests that execute one function."""

    tests: tuple[str, ...]  # T_i: stable tests that execute at least one line of the body
    unstable: tuple[str, ...]  # quarantined tests that execute it
    statements: int  # executable lines of the body, including nested functions
    covered: int  # of these, by T_i
    branches: int
    branches_covered: int  # by T_i
    import_time: bool  # the body also runs while modules are imported or tests collected

    @property
    def coverage(self) -> float:
        return self.covered / self.statements if self.statements else 0.0


def trace_functions(
    suite: Suite, functions: Sequence[Function], source: bytes, path: str, *, published: bool = False
) -> dict[str, FunctionTrace]:
    """Return the trace of each function of one file, by function id.

    A line belongs to the innermost function around it; a nested function's statements and branches also count for the
    outer one, whose body contains them. With ``published`` any line reaches a function, its header and nested functions
    included.
    """
    recorded = suite.trace.get("files", {}).get(path)
    if recorded is None:
        return {}
    contexts = suite.trace["contexts"]
    # A set of tests is represented as an integer whose bit n stands for the n-th context.
    place = {name: number for number, name in enumerate(contexts)}
    masks = [int(mask, 16) for mask in suite.trace["masks"]]
    lines = {int(line): masks[number] for line, number in recorded["lines"].items()}
    nobody = 1 << place[""] if "" in place else 0
    stable = sum(1 << place[test] for test in suite.stable if test in place)
    unstable = sum(1 << place[test] for test in suite.unstable if test in place)
    statements = set(recorded["statements"])
    bodies = {function.id: _body_lines(function, source) for function in functions}
    # Coverage reports two exits for a one-line definition: past it, and out of its body.
    inline = {line for each in functions if (line := _line(source, each.header.end)) in bodies[each.id]}
    traces = {}
    for function in functions:
        body = bodies[function.id]
        inner: set[int] = set()
        for other in functions:
            if (
                other is not function
                and function.body.start <= other.span.start
                and other.span.end <= function.body.end
            ):
                inner |= bodies[other.id]
        by = 0
        import_time = False
        for line in body - inner:
            # A body on its header's line shares the line that runs at import, so that says nothing about the body.
            import_time |= bool(lines.get(line, 0) & nobody) and line > _line(source, function.header.end)
            by |= lines.get(line, 0)
        around = [other for other in functions if other.body.start <= function.span.start < other.body.end]
        # Functions that an enclosing function created at import already contain the original code.
        import_time |= any(lines.get(line, 0) & nobody for other in around for line in bodies[other.id])
        if published:
            for line in range(function.start_line, function.end_line + 1):
                by |= lines.get(line, 0)
        tests = by & stable
        own = body & statements
        branches = [number for start, _, number in recorded["branches"] if start in own - inline]
        traces[function.id] = FunctionTrace(
            tests=tuple(test for test in suite.stable if tests >> place.get(test, len(contexts)) & 1),
            unstable=tuple(test for test in suite.unstable if (by & unstable) >> place.get(test, len(contexts)) & 1),
            statements=len(own),
            covered=sum(1 for line in own if lines.get(line, 0) & tests),
            branches=len(branches),
            branches_covered=sum(1 for number in branches if number >= 0 and masks[number] & tests),
            import_time=import_time,
        )
    return traces


def _body_lines(function: Function, source: bytes) -> set[int]:
    start = function.body.start
    text = source[start : function.body.end]
    start += len(text) - len(text.lstrip())
    return set(range(_line(source, start), function.end_line + 1))


def _line(source: bytes, offset: int) -> int:
    return source.count(b"\n", 0, offset) + 1
