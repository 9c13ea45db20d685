"""Docker and Podman engines of the tests' own, below a temporary folder, with an image made of this machine's ``/usr``."""

from __future__ import annotations

import contextlib
import io
import os
import select
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

IMAGE = "workbench-test-base"


class NoEngine(Exception):
    """It cannot be started here; the message says why."""


@contextlib.contextmanager
def dockerd() -> Iterator[Engine]:
    """Start a Docker engine: data, exec root, pid file and socket below one temporary folder."""
    if shutil.which("dockerd") is None:
        raise NoEngine("dockerd is not installed; install the package docker.io")
    base = Path(tempfile.mkdtemp(prefix="wbd-"))
    command = ["dockerd", "--data-root", str(base / "data"), "--exec-root", str(base / "exec")]
    command += ["--pidfile", str(base / "pid"), "--host", f"unix://{base}/d.sock"]
    command += ["--bridge=none", "--iptables=false", "--ip6tables=false"]
    with _serve(command, base, f"unix://{base}/d.sock") as engine:
        yield engine


@contextlib.contextmanager
def podman() -> Iterator[Engine]:
    """Start Podman's service, which speaks Docker's protocol."""
    if shutil.which("podman") is None:
        raise NoEngine("podman is not installed; install the package podman")
    base = Path(tempfile.mkdtemp(prefix="wbp-"))
    command = ["podman", "--root", str(base / "data"), "--runroot", str(base / "run"), "--tmpdir", str(base / "tmp")]
    command += ["--cgroup-manager=cgroupfs", "--events-backend=file", "--runtime=runc"]
    command += ["system", "service", "--time=0", f"unix://{base}/p.sock"]
    with _serve(command, base, f"unix://{base}/p.sock") as engine:
        yield engine


class Engine:
    """A running engine: its address and its process."""

    def __init__(self, host: str, command: list[str], base: Path) -> None:
        self.host = host
        self.base = base
        self._command = command
        self.process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        with (self.base / "log").open("ab") as log:
            # Podman leaves a file where it was started when a container runs out of memory.
            return subprocess.Popen(self._command, stdout=log, stderr=log, start_new_session=True, cwd=self.base)

    def stop(self) -> None:
        """Stop it and wait until it is gone."""
        self.process.terminate()
        self.process.wait(timeout=60)

    def until_it_answers(self) -> None:
        """Wait; raises NoEngine when it does not come up."""
        import docker

        deadline = time.monotonic() + 60
        while True:
            try:
                docker.DockerClient(base_url=self.host, timeout=60).close()  # asks for the version at once
                return
            except docker.errors.DockerException as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    words = (self.base / "log").read_text(errors="replace").strip().splitlines()
                    raise NoEngine(f"{self._command[0]} does not start: {words[-1] if words else error}") from error
                select.select([], [], [], 0.1)


@contextlib.contextmanager
def _serve(command: list[str], base: Path, host: str) -> Iterator[Engine]:
    import docker

    if os.geteuid() != 0:
        shutil.rmtree(base)
        raise NoEngine("an engine of the tests' own needs root")
    engine = Engine(host, command, base)
    try:
        engine.until_it_answers()
        client = docker.DockerClient(base_url=host, timeout=60)
        client.api.import_image_from_data(root_file_system(command[0]), repository=IMAGE, tag="latest")
        client.close()
        yield engine
    finally:
        if engine.process.poll() is None:
            engine.stop()
        for file in base.glob("exec/**/containerd.pid"):  # which lives on when the engine was killed
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(file.read_text()), signal.SIGKILL)
        for mount in reversed([line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]):
            if mount.startswith(f"{base}/"):
                subprocess.run(["umount", "-l", mount], check=False, capture_output=True)
        shutil.rmtree(base, ignore_errors=True)


def root_file_system(engine: str) -> bytes:
    """An image without programs: the tests mount the machine's own ``/usr`` into it, read-only."""
    modes = {"tmp": 0o1777}
    if engine == "dockerd":  # as in every image only root may enter its own home, where an interpreter may be mounted
        modes["root"] = 0o700
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("usr", "etc", "proc", "sys", "dev", "home", *modes):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, modes.get(name, 0o755)
            archive.addfile(entry)
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if Path("/", name).is_symlink():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, str(Path("/", name).readlink())
                archive.addfile(entry)
        archive.add("/etc/ld.so.cache", "etc/ld.so.cache")
    return buffer.getvalue()


def image_with_libraries(python: Path) -> bytes:
    """A base image with what the interpreter and a reset need of the system: libraries, a shell, a few programs."""
    files = {Path("/bin/sh"), Path("/bin/rm"), Path("/bin/chmod"), Path("/bin/true"), python.resolve()}
    for extension in Path(python.resolve().parent.parent / "lib").glob("python3*/lib-dynload/*.so"):
        files.add(extension)
    words = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=False).stdout.split()
    files |= {Path(word) for word in words if word.startswith("/") and not word.endswith(":")}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        for name in ("bin", "sbin", "lib", "lib64"):
            if Path("/", name).is_symlink():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, str(Path("/", name).readlink())
                archive.addfile(entry)
        for file in sorted(files):
            inside = file.parent.resolve() / file.name
            if inside.is_relative_to("/usr"):
                archive.add(file, str(inside).lstrip("/"))
    return buffer.getvalue()
