"""A real case from end to end: environment, suite, tasks; the original passes and the stub fails on every task."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.regeneration.declarations import declarations
from workbench.regeneration.environment import EnvironmentFailed, build_environment

pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.slow]


async def test_what_cannot_be_installed_is_one_sentence(make, tmp_path: Path, monkeypatch) -> None:
    root = make({"sums.py": ""})
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(EnvironmentFailed, match="could not be installed") as caught:
        await build_environment(root, install=["pip install ./nowhere-to-be-found.whl"])
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "cache" / "environments").glob("*/complete.json"))
    with pytest.raises(EnvironmentFailed, match="not supported"):
        await build_environment(root, install=["apt install everything"])


def test_the_project_never_asks_for_itself(tmp_path: Path) -> None:
    from workbench.regeneration.environment import _without_self

    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "my.pkg"\nversion = "1"\ndependencies = ["click"]\n'
        '[project.optional-dependencies]\nsocks = ["pysocks>=1"]\ntest = ["my-pkg[socks]", "pytest-cov", "mock"]\n'
    )
    declared = declarations(tmp_path)
    assert _without_self((*declared.requirements, *declared.test_requirements), declared) == (
        "click",
        "pysocks>=1",
        "mock",
    )
