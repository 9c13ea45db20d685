from __future__ import annotations

from workbench.grounding.exploration import LISTED, NEVER, PARTLY, READ, PublicFunction, Visit, explore

FILES = [("main.py", 900), ("src/a.py", 50), ("src/b.py", 40), ("setup.cfg", 10)]
FUNCTIONS = [PublicFunction("main.py", "one", 1, 10), PublicFunction("main.py", "two", 11, 30), PublicFunction("src/a.py", "three", 1, 3),
             PublicFunction("tests/test_a.py", "test_a", 1, 3)]  # fmt: skip


def listing(step: int, path: str, *names: str) -> Visit:
    return Visit(step, "list_directory", path, listed=names)


def reading(step: int, path: str, shown: int, lines: int = 100) -> Visit:
    return Visit(step, "read_file", path, shown, lines)


def test_files_bytes_and_public_functions_are_counted_by_how_much_was_seen() -> None:
    visits = [
        listing(1, ".", "main.py", "setup.cfg", "src/"),
        reading(2, "main.py", 300, 12),
        reading(3, "setup.cfg", 10),
    ]
    found = explore(FILES, visits, FUNCTIONS)
    assert found.files == {READ: 1, PARTLY: 1, LISTED: 0, NEVER: 2}
    assert found.bytes == {READ: 310, PARTLY: 600, LISTED: 0, NEVER: 90}
    assert found.functions == {READ: 1, PARTLY: 1, LISTED: 0, NEVER: 1}
    assert found.share == 0.31


def test_patterns_have_names() -> None:
    found = explore(FILES, [reading(step, "main.py", 300) for step in range(1, 5)], FUNCTIONS, stopped=True)
    assert found.patterns == (
        "stopped at the step limit",
        "read a third of the one file that matters, main.py",
        "read the top file, never listed the folders",
        "read the same file four times: main.py",
    )
    assert explore(FILES, [], None).patterns == ("read no file",)
    missing = Visit(1, "read_file", "x.py", failed=True)
    assert "asked twice for a nonexistent path" in explore(FILES, [missing, missing], None).patterns


def test_nothing_odd_is_said_of_a_thorough_way() -> None:
    visits = [
        listing(1, ".", "main.py"),
        listing(2, "src", "src/a.py"),
        reading(3, "main.py", 900),
        reading(4, "src/a.py", 50),
    ]
    assert explore(FILES, visits, FUNCTIONS).patterns == ()


def test_an_empty_repository_divides_by_nothing() -> None:
    assert explore([], [], None).share is None
