"""Accepted docstrings as a git change: a patch, or a branch with one commit."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import plural
from workbench.improving.attempts import DocstringAttempt, Gain, Refusal, Share, Standing, overall_gain
from workbench.plans.plan import ImprovementPlan
from workbench.plans.task_names import row_id
from workbench.repository.functions import Function, functions_by_name
from workbench.session import SessionReader
from workbench.session.rows import AttemptRow, ImprovementRow, TaskRow

_AUTHOR = ("Workbench", "workbench@localhost")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after, with its path in the repository."""

    path: str
    before: bytes
    after: bytes


def commit_message(attempts: Sequence[DocstringAttempt], ks: Sequence[int], evaluator: str) -> str:
    """Return a commit message: each function with pass@k before and after on held-out samples.

    The accepted docstrings were selected from all ``attempts`` by these samples, so their gains are biased upwards. The
    message therefore also states the mean gain over all attempts with held-out samples.
    """
    accepted = [attempt for attempt in attempts if attempt.is_kept]
    one = len(accepted) == 1
    what = row_id(accepted[0].task).partition("::")[2] if one else f"{len(accepted)} functions"
    subject = f"Improve the docstring{'' if one else 's'} of {what}"
    lines = [subject, ""]
    lines += [f"pass@k of {evaluator} before → after, on held-out samples:", ""]
    for attempt in accepted:
        gain = attempt.gain
        assert gain is not None
        values = [
            f"pass@{k} {before:.2f} → {after:.2f}"
            for k in ks
            if (before := gain.before.at(k)) is not None and (after := gain.after.at(k)) is not None
        ]
        lines.append(
            f"- {row_id(attempt.task)}: {', '.join(values)} ({gain.after.counted} samples; gain {gain.value:+.2f}, "
            f"{gain.interval_words})"
        )
    every = overall_gain(attempts)
    low, high = every.interval.low, every.interval.high
    bounds = "" if low is None or high is None else f" [{low:+.2f}, {high:+.2f}]"
    tested = sum(attempt.gain is not None for attempt in attempts)
    functions = len({attempt.task.id for attempt in attempts})
    lines += [
        "",
        f"Kept {len(accepted):,} of {len(attempts):,} docstrings tried, of {plural(functions, 'function')}; "
        f"{tested:,} were tested on held-out samples.",
        "These samples decided what was kept, so its gains are too high. The mean gain of all docstrings tested "
        "on them is",
        f"{every.value or 0.0:+.2f}{bounds}.",
    ]
    return "\n".join(lines) + "\n"


def patch_of(changes: Sequence[FileChange], message: str, prefix: str = "") -> bytes:
    """Return a patch with its message for ``git apply`` and ``git am``.

    ``prefix`` is the folder of the files in the checkout.
    """
    import git

    author = git.Actor(*_AUTHOR)
    with tempfile.TemporaryDirectory() as folder, git.Repo.init(folder) as repository:
        with repository.config_writer() as settings:
            settings.set_value("core", "autocrlf", "false")
        for number, texts in enumerate(
            ({one.path: one.before for one in changes}, {one.path: one.after for one in changes})
        ):
            for path, text in texts.items():
                file = Path(folder, prefix, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text)
            repository.index.add([f"{prefix}{path}" for path in texts])
            repository.index.commit(message if number else "before", author=author, committer=author)
        patch: bytes = repository.git.format_patch(
            "-1", "--stdout", "--no-signature", "--no-ext-diff", stdout_as_string=False, strip_newline_in_stdout=False
        )
        return patch


@dataclass(frozen=True, slots=True)
class Checkout:
    """A git checkout with the source: its working tree, and the source's folder in it (``""``, ``"lib/"``)."""

    root: Path
    prefix: str

    def check_branch(self, name: str) -> None:
        """Check that a branch can be created. Raises UsageError if the name is invalid or exists already."""
        import git

        with git.Repo(self.root) as repository:
            try:
                repository.git.check_ref_format("--branch", name)
            except git.GitCommandError:
                raise UsageError(f"{name!r} is not a valid branch name.") from None
            if not repository.head.is_valid():
                raise UsageError(f"The repository {self.root} has no commit yet, so no branch can start there.")
            if name in [head.name for head in repository.heads]:
                raise UsageError(f"The branch {name} already exists; choose another one with --branch.")

    def commit(self, name: str, changes: Sequence[FileChange], message: str) -> str:
        """Create a branch with one additional commit and return its short id; the working tree is not changed."""
        import git
        from gitdb import IStream

        with git.Repo(self.root) as repository:
            head = repository.head.commit
            blobs: dict[str, Any] = {}
            for change in changes:
                path = f"{self.prefix}{change.path}"
                blobs[path] = _blob(head.tree, path)
                if blobs[path] is None or blobs[path].data_stream.read() != change.before:
                    raise WorkbenchError(
                        f"{path} has uncommitted changes, so no branch was made; commit them first, or use the patch."
                    )
            index = git.IndexFile.from_tree(repository, head.tree)
            for change in changes:
                path = f"{self.prefix}{change.path}"
                stored = repository.odb.store(IStream(b"blob", len(change.after), BytesIO(change.after)))
                index.entries[path, 0] = git.IndexEntry.from_base(
                    git.BaseIndexEntry((blobs[path].mode, stored.binsha, 0, path))
                )
            made = git.Commit.create_from_tree(repository, index.write_tree(), message, [head], head=False)
            repository.create_head(name, made)
            return str(made.hexsha)[:10]


def checkout_of(folder: Path) -> Checkout | None:
    import git

    try:
        with git.Repo(folder, search_parent_directories=True) as repository:
            if repository.working_tree_dir is None:
                return None
            root = Path(repository.working_tree_dir).resolve()
    except (git.InvalidGitRepositoryError, git.NoSuchPathError):
        return None
    inside = folder.resolve().relative_to(root).as_posix()
    return Checkout(root, "" if inside == "." else f"{inside}/")


def _blob(tree: Any, path: str) -> Any:
    try:
        return tree / path
    except KeyError:
        return None


def written(folder: Path, texts: Mapping[str, bytes]) -> Path:
    """Write files to a folder, each atomically, unless they exist, and return the folder."""
    for path, text in texts.items():
        file = folder / path
        if file.is_file() and file.read_bytes() == text:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f"{file.name}.{os.getpid()}.part")
        beside.write_bytes(text)
        beside.replace(file)
    return folder


def suggested_name(source: str) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", source.rstrip("/").rpartition("/")[2]).strip("-.")
    return f"{name or 'improved'}-docstrings.patch"


def check_patch(file: Path) -> None:
    """Check that a patch can be written. Raises UsageError if the file exists already, or its folder does not."""
    if file.exists():
        raise UsageError(f"{file} already exists; name another file for the patch.")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {file.absolute().parent} for the patch; name another file.")


def source_checkout(source: str) -> Checkout | None:
    folder = Path(source).expanduser()
    return checkout_of(folder) if folder.is_dir() else None


@dataclass(frozen=True, slots=True)
class Improved:
    """The result of an improvement."""

    standings: tuple[Standing, ...]
    attempts: tuple[DocstringAttempt, ...]
    changes: tuple[FileChange, ...]
    plan: ImprovementPlan
    run: str

    @property
    def kept(self) -> tuple[DocstringAttempt, ...]:
        """The attempts that passed every gate, at most one per function."""
        return tuple(attempt for attempt in self.attempts if attempt.is_kept)

    @property
    def message(self) -> str:
        ks = tuple(k for k in self.plan.base.k if k <= self.plan.held_out)
        return commit_message(self.attempts, ks, self.plan.held_out_evaluator)

    @property
    def tried(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(attempt.task.id for attempt in self.attempts))


def attempts_of(reader: SessionReader, row: ImprovementRow, plan: ImprovementPlan) -> tuple[DocstringAttempt, ...]:
    """Return the attempts of an improvement by function and number, without those beyond the planned number."""
    rows = [(one, reader.task(one.task_id)) for one in reader.docstring_attempts(row.id) if one.number <= plan.attempts]
    return tuple(_attempt(reader, one, task) for one, task in rows if task is not None)


def _attempt(reader: SessionReader, row: AttemptRow, task: TaskRow) -> DocstringAttempt:
    before, after = _share(row.before), _share(row.after)
    return DocstringAttempt(
        task,
        row.number,
        reader.text(row.docstring_blob) if row.docstring_blob else "",
        Refusal(row.gate, row.reason or "") if row.gate else None,
        row.run_id or "",
        _share(row.seen),
        Gain(before, after) if before is not None and after is not None else None,
        row.held_out_evaluator,
    )


def _share(text: str | None) -> Share | None:
    return Share(*json.loads(text)) if text else None


def task_source(reader: SessionReader, task: TaskRow) -> tuple[bytes, Function]:
    assert task.source_blob is not None
    source = reader.data(task.source_blob)
    return source, functions_by_name(source, task.path)[task.qualified_name, task.occurrence]


def spliced(docstrings: Iterable[tuple[TaskRow, bytes, str]]) -> dict[str, tuple[bytes, bytes]]:
    """Return files before and after with new docstrings; each docstring comes with its task and the file's content."""
    from workbench.regeneration.grafting import graft_file

    files: dict[str, tuple[bytes, dict[tuple[str, str, int], str | None]]] = {}
    for task, source, docstring in docstrings:
        key = (task.path, task.qualified_name, task.occurrence)
        files.setdefault(task.path, (source, {}))[1][key] = docstring
    return {path: (source, graft_file(source, path, texts)) for path, (source, texts) in files.items()}
