"""Source distributions come from the configured index, verified, and their build code never runs."""

from __future__ import annotations

import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from workbench.repository import ChecksumMismatch, SourceUnavailable, fetch, package_index


def _sdist(name: str, version: str, trap: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in {
            "setup.py": f"open({str(trap)!r}, 'w').close()",
            "PKG-INFO": f"Name: {name}\n",
            f"{name}.py": "x = 1\n",
        }.items():
            info = tarfile.TarInfo(f"{name}-{version}/{path}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


@dataclass
class Index:
    """A package index on loopback."""

    url: str = ""
    pages: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    index = Index()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append((self.path, self.headers.get("Authorization", "")))
            kind, body = index.pages.get(self.path, ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        index.url = f"127.0.0.1:{server.server_address[1]}"
        monkeypatch.setenv("PIP_INDEX_URL", f"http://reader:s3cret@{index.url}/simple/")
        yield index
        server.shutdown()
        thread.join()


def _offer(index: Index, data: bytes, *, filename: str, checksum: str) -> None:
    page = {
        "files": [
            {"filename": filename.replace(".tar.gz", "-py3-none-any.whl"), "url": "/files/w.whl", "hashes": {}},
            {"filename": filename, "url": "../../files/x.tar.gz", "hashes": {"sha256": checksum}},
        ]
    }
    index.pages["/simple/my-tool/"] = ("application/vnd.pypi.simple.v1+json", json.dumps(page).encode())
    index.pages["/files/x.tar.gz"] = ("application/octet-stream", data)


def test_json_index(index: Index, tmp_path: Path) -> None:
    data = _sdist("my_tool", "1.2", tmp_path / "ran")
    _offer(index, data, filename="my_tool-1.2.tar.gz", checksum=sha256(data).hexdigest())
    snapshot = fetch("My.Tool==1.2.0", cache=tmp_path / "cache", expected_sha256=sha256(data).hexdigest())
    assert [entry.path for entry in snapshot.files] == ["PKG-INFO", "my_tool.py", "setup.py"]
    assert not (tmp_path / "ran").exists()
    assert all(header.startswith("Basic ") for path, header in index.asked if path.startswith("/simple"))
    asked = len(index.asked)
    assert fetch("My.Tool==1.2.0", cache=tmp_path / "cache") == snapshot
    assert len(index.asked) == asked


def test_html_index_and_no_checksum(index: Index, tmp_path: Path) -> None:
    data = _sdist("my_tool", "1.2", tmp_path / "ran")
    html = b'<html><a href="../../files/my_tool-1.2.tar.gz#sha256=%s">x</a></html>' % sha256(data).hexdigest().encode()
    index.pages["/simple/my-tool/"] = ("text/html", html)
    index.pages["/files/my_tool-1.2.tar.gz"] = ("application/octet-stream", data)
    assert fetch("my-tool==1.2", cache=tmp_path / "cache").revision == f"sha256:{sha256(data).hexdigest()}"


def test_a_folder_as_index(tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _sdist("my_tool", "1.2", tmp_path / "ran")
    place = tmp_path / "simple" / "my-tool"
    place.mkdir(parents=True)
    (place / "my_tool-1.2.tar.gz").write_bytes(data)
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    assert len(fetch("my-tool==1.2", cache=tmp_path / "cache").files) == 3
    assert index.asked == []


@pytest.mark.parametrize(
    ("filename", "version"),
    [
        ("my_tool-1.0rc1.tar.gz", "1.0-rc.1"),
        ("My.Tool-v2.0.zip", "2"),
        ("my-tool-1.0-1.tar.bz2", "1.0.post1"),
        ("my_tool-1.0+local.1.tgz", "1.0+local-1"),
        ("my_tool-2004d.tar.gz", "2004d"),
    ],
)
def test_versions_are_those_of_pep_440(filename: str, version: str) -> None:
    found = package_index._version_of(filename, "My.tool")
    assert found is not None
    assert package_index._same_version(found, version)


@pytest.mark.parametrize(
    "filename",
    ["my_tool-1.0-py3-none-any.whl", "my_tool_more-1.0.tar.gz", "my-1.0.tar.gz", "my_tool.tar.gz", "my_tool-.zip"],
)
def test_what_is_no_source_distribution_of_the_project(filename: str) -> None:
    assert package_index._version_of(filename, "my-tool") is None


def test_a_release_candidate_is_older_than_its_release() -> None:
    versions = ["1.0", "1.0rc1", "0.9", "1.10", "1.9", "nightly", "1.0.post1"]
    ordered = ["nightly", "0.9", "1.0rc1", "1.0", "1.0.post1", "1.9", "1.10"]
    assert sorted(versions, key=package_index._version_key) == ordered


def test_what_arrives_must_be_what_was_promised_and_pinned(index: Index, tmp_path: Path) -> None:
    data = _sdist("my_tool", "1.2", tmp_path / "ran")
    _offer(index, data, filename="my_tool-1.2.tar.gz", checksum="0" * 64)
    with pytest.raises(ChecksumMismatch, match="index promises"):
        fetch("my-tool==1.2", cache=tmp_path / "cache")
    with pytest.raises(ChecksumMismatch, match="is pinned"):
        fetch("my-tool==1.2", cache=tmp_path / "cache", expected_sha256="1" * 64)
    _offer(index, data, filename="my_tool-1.2.tar.gz", checksum="")
    with pytest.raises(ChecksumMismatch, match="is pinned"):
        fetch("my-tool==1.2", cache=tmp_path / "cache", expected_sha256="1" * 64)
    assert list((tmp_path / "cache" / "snapshots").iterdir()) == []


@pytest.mark.slow
def test_what_is_not_there(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _sdist("my_tool", "1.2", tmp_path / "ran")
    _offer(index, data, filename="my_tool-1.2.tar.gz", checksum=sha256(data).hexdigest())
    with pytest.raises(SourceUnavailable, match=r"newest versions that have one are 1\.2"):
        fetch("my-tool==9", cache=tmp_path / "cache")
    with pytest.raises(SourceUnavailable, match="check the name"):
        fetch("other==1", cache=tmp_path / "cache")
    del index.pages["/files/x.tar.gz"]
    with pytest.raises(SourceUnavailable, match="could not be downloaded"):
        fetch("my-tool==1.2", cache=tmp_path / "cache")
    index.pages["/simple/my-tool/"] = ("application/json", b"{not json")
    with pytest.raises(SourceUnavailable):
        fetch("my-tool==1.2", cache=tmp_path / "cache")
    monkeypatch.setenv("PIP_INDEX_URL", "http://reader:s3cret@127.0.0.1:1/simple")
    with pytest.raises(SourceUnavailable, match="check the network") as caught:
        fetch("my-tool==1.2", cache=tmp_path / "cache")
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
