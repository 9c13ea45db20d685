"""Build images that contain an environment, for engines that do not see this machine's files.

An image is the base image plus the folders that would otherwise be mounted. No builder and no network are needed: the
folders are streamed into a container of the base image, which is then committed under a tag derived from their content.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import stat
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: Name of the images; ``docker image prune --all --filter label=workbench=environment`` removes them.
REPOSITORY = "workbench-environment"

_CHUNK = 1 << 20
_NOT_USED = frozenset({"site-packages", "test", "idlelib"})
_making = threading.Lock()


def environment_image(client: Any, base: str, folders: Mapping[str, Path]) -> str:
    """Return the tag of an image with ``folders`` (path inside → local folder), building it if necessary.

    Raises:
        docker.errors.DockerException: The engine refuses a request.
    """
    import docker.errors

    tag = f"{REPOSITORY}:{_digest(client.images.get(base).id, folders)}"
    with _making:  # several workers may start at once
        try:
            client.images.get(tag)
        except docker.errors.ImageNotFound:
            _make(client, base, folders, tag)
    return tag


def _make(client: Any, base: str, folders: Mapping[str, Path], tag: str) -> None:
    container = client.containers.create(
        base, command=["true"], labels={"workbench": "environment"}, network_mode="none"
    )
    try:
        with _archive(folders) as file:
            container.put_archive("/", iter(lambda: file.read(_CHUNK), b""))
        repository, _, name = tag.rpartition(":")
        container.commit(repository=repository, tag=name, conf={"Labels": {"workbench": "environment"}})
    finally:
        container.remove(force=True)


def _files(folder: Path) -> Iterator[Path]:
    """Yield ``folder`` and everything below it, in order, without following links.

    Parts of a base interpreter that no environment uses are left out: its own site-packages, its tests, and files for
    building extensions.
    """
    based_on = not (folder / "pyvenv.cfg").exists()
    yield folder
    for here, folders, names in os.walk(folder):
        if based_on and Path(here).parent == folder / "lib":
            folders[:] = [name for name in folders if name not in _NOT_USED and not name.startswith("config-")]
        folders.sort()
        for name in sorted([*folders, *names]):
            yield Path(here, name)


def _digest(base: str, folders: Mapping[str, Path]) -> str:
    """Return a digest of every path with its type, size and modification time; environments are never edited in place."""
    digest = hashlib.sha256(base.encode())
    for inside, folder in sorted(folders.items()):
        for path in _files(folder):
            status = path.lstat()
            detail = (inside, str(path.relative_to(folder)), status.st_mode, status.st_size, int(status.st_mtime))
            if stat.S_ISDIR(status.st_mode):
                detail = (*detail[:3], 0, 0)  # ignore changes caused by bytecode files
            if "__pycache__" not in path.parts:
                digest.update(repr(detail).encode())
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _archive(folders: Mapping[str, Path]) -> Iterator[io.BufferedIOBase]:
    """Yield a tar file of ``folders`` at their paths inside, readable by everyone, owned by root."""

    def everybody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o111 else 0o644
        return entry

    with tempfile.TemporaryFile(prefix="workbench-image-") as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            seen: set[str] = set()
            for inside, folder in sorted(folders.items()):
                # An unprivileged user must be able to traverse every parent folder, for example /root.
                for parent in reversed(Path(inside).parents[:-1]):
                    if str(parent) not in seen:
                        seen.add(str(parent))
                        entry = tarfile.TarInfo(str(parent).lstrip("/"))
                        entry.type = tarfile.DIRTYPE
                        archive.addfile(everybody(entry))
                for path in _files(folder):
                    name = Path(inside.lstrip("/"), path.relative_to(folder))
                    archive.add(path, str(name), recursive=False, filter=everybody)
        file.seek(0)
        yield file
