"""The wheel works where the checkout is not: what the program ships travels inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.network
@pytest.mark.slow
def test_the_built_wheel_brings_its_cases_themes_and_sessions(tmp_path: Path, home: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if "__pycache__" in name or name.endswith(".session-wal")]
        archive.extractall(unpacked)
    code = (
        "from workbench import cli; from workbench.base import paths; import workbench, sys\n"
        f"assert workbench.__file__.startswith({str(unpacked)!r}), workbench.__file__\n"
        "assert list(paths.bundled('themes').glob('*.yaml')) and list(paths.bundled('sessions').glob('*.session'))\n"
        "from workbench.catalog import repositories\n"
        "assert sum(repositories.bundled_record(entry) is not None for entry in repositories.load_repositories()) >= 10\n"
        "assert workbench.base.paths.Path(workbench.__file__).with_name('sandbox').joinpath('etc', 'hosts').is_file()\n"
        "from workbench.pages import write_report\n"
        "page = write_report(workbench.base.paths.bundled('sessions') / 'example.session', 'html', None)\n"
        "assert '<script>' in page and 'id=\"search\"' in page\n"
        "sys.exit(cli.main(['cases', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"type": "case"') == 6
