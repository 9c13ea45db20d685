"""Runs candidates through ``repositorytest``'s own local runner; started by ``candidates_per_second.py`` in its environment.

Its cost per candidate as its users have it: a copy of the tree and one run of the whole suite (its dry run and its other
runs are left out in its favour). Its conda environment is ours, linked to where it expects one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def main() -> None:
    """Print the seconds that all candidates took; arguments: work folder, tree, environment, workers."""
    folder, root, environment = (Path(word).resolve() for word in sys.argv[1:4])
    origin = folder / "origin" / "owner" / "project"
    shutil.copytree(root, origin, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    git = ["git", "-c", "user.name=b", "-c", "user.email=b@localhost", "-C", str(origin)]
    for words in (["init", "-q"], ["add", "-Af"], ["commit", "-qm", "pristine"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    from repotest.core.local.python import PythonLocalRepo

    def repository() -> PythonLocalRepo:
        return PythonLocalRepo(
            "owner/project", commit, default_cache_folder=str(folder / "cache"), default_url=str(folder / "origin")
        )

    first = repository()
    link = Path(first.conda_env_path)
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(environment)
    command = (folder / "command").read_text()

    def one(path: Path) -> bool:
        tree = repository()
        tree.clean()
        target = path.with_suffix(".path").read_text()
        Path(tree.cache_folder, target).write_bytes(path.read_bytes())
        words = tree.run_test(command, timeout=300)["stdout"]
        if " in " not in words.strip().rsplit("\n", 1)[-1]:
            raise SystemExit(f"no suite ran: {words[-300:]}")
        return " failed" not in words

    jobs = sorted(folder.glob("*.content"))
    began = time.perf_counter()
    with ThreadPoolExecutor(int(sys.argv[4])) as threads:
        list(threads.map(one, jobs))
    print(time.perf_counter() - began)


if __name__ == "__main__":
    main()
