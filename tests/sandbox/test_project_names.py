"""What the other files of a project let a body of one of them use, and what they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.sandbox.plain import PlainnessCheck, project_names

FILES = {
    "shop/prices.py": "class Price:\n    def __init__(self):\n        self.amount = 1\n        self._rounded = 2\n",
    "shop/deep.py": "import operator\n\nclass Deep:\n    def reached(self, path):\n"
    "        return operator.attrgetter(path)(self)\n\n    def frame(self):\n        return self.gi_frame.f_globals\n",
    "tests/test_shop.py": "def test_it(request):\n    assert request.of_the_tests\n",
    "shop/basket.py": "def total(prices):\n    return 0\n",
    "shop/broken.py": "def total(:\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return sum(price.amount + price._rounded for price in prices)", ""),
        ("prices.amount = 3", ""),
        ("return prices.reached('__class__')", "it uses the attribute reached, which the file does not know"),
        ("return prices.gi_frame", "it uses the attribute gi_frame"),
        ("return prices.f_globals", "it uses the attribute f_globals"),
        ("return prices.of_the_tests", "it uses the attribute of_the_tests, which the file does not know"),
        ("return prices.__globals__", "it uses the attribute __globals__"),
    ],
)
def test_a_body_may_use_attributes_of_the_projects_own_objects(root: Path, body: str, reason: str) -> None:
    pristine = (root / "shop" / "basket.py").read_bytes()
    content = pristine.replace(b"return 0", body.encode())
    assert PlainnessCheck(pristine, lambda: project_names(root)).judge(content, ("total", 1)).reason == reason


def test_the_order_of_the_bodies_changes_no_answer(root: Path) -> None:
    pristine = (root / "shop" / "basket.py").read_bytes()
    bodies = [b"return prices.amount", b"return len(prices)", b"return prices.nothing", b"return prices._rounded"]

    def answers(order: list[bytes]) -> dict[bytes, bool]:
        check = PlainnessCheck(pristine, lambda: project_names(root))
        return {body: check.judge(pristine.replace(b"return 0", body), ("total", 1)).plain for body in order}

    assert answers(bodies) == answers(bodies[::-1])


def test_the_files_are_read_only_where_the_own_file_does_not_suffice(root: Path) -> None:
    pristine = (root / "shop" / "basket.py").read_bytes()
    check = PlainnessCheck(pristine, lambda: pytest.fail("read"))
    assert check.judge(pristine.replace(b"return 0", b"return len(prices)"), ("total", 1)).plain
