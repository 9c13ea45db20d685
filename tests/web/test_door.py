"""Who may come in, asked without a browser: tokens, origins, hosts, limits, and what cannot be served at all."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("textual_serve", reason="the extra web is not installed")

from aiohttp import ClientSession, WSMsgType
from aiohttp.test_utils import TestServer, make_mocked_request
from served import serving

from workbench.cli import main
from workbench.web.server import DRIVER, AccessGuard, WorkbenchServer, _attachment, bounded

TOKEN = "a-token-of-more-than-16-characters"
# An app that says where it is and ends when it is told to: what is tested here is the door before it.
ECHO = """
import sys
def write(kind, data): sys.stdout.buffer.write(kind + len(data).to_bytes(4, "big") + data); sys.stdout.flush()
sys.stdout.buffer.write(b"__GANGLION__\\n"); write(b"D", b"hello")
while head := sys.stdin.buffer.read(5):
    body = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
    write(b"D", body)
    if b"quit" in body: break
"""


def problem(door: AccessGuard, host: str = "127.0.0.1:8000", path: str = "/", **headers: str) -> str:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return door.problem(make_mocked_request("GET", path, headers={"Host": host, **named}))


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "[::1]:8000", "localhost"])
def test_on_loopback_the_own_names_need_no_token(host):
    assert problem(AccessGuard(""), host) == ""
    assert problem(AccessGuard(""), host, Origin=f"http://{host}", Upgrade="websocket") == ""


@pytest.mark.parametrize("host", ["127.0.0.1.evil.example", "10.0.0.7:8000", "[::1"])
def test_a_name_that_points_here_is_refused(host):
    assert "localhost" in problem(AccessGuard(""), host)


@pytest.mark.parametrize("origin", ["null", "", "http://127.0.0.1:8001", "http://127.0.0.1:8000.evil.example"])
def test_only_the_own_page_gets_a_socket(origin):
    named = {"Origin": origin} if origin else {}
    assert problem(AccessGuard(""), Upgrade="websocket", **named) == "Only the server's own page may request this."


def test_a_proxy_may_show_it_under_the_origin_that_was_named():
    door = AccessGuard("", ("https://docs.example.org",))
    assert problem(door, "docs.example.org", Origin="https://docs.example.org", Upgrade="websocket") == ""
    assert problem(door, Origin="https://docs.example.org", Upgrade="websocket") == ""
    assert problem(door, Origin="https://other.example.org", Upgrade="websocket") != ""


@pytest.mark.parametrize("given", ["", TOKEN[:-1], TOKEN + "x", "ü"])
def test_a_wrong_token_gets_nothing(given):
    door = AccessGuard(TOKEN)
    assert "token" in problem(door, path=f"/?token={given}")
    assert "token" in problem(door, path="/static/js/textual.js", Cookie=f"{door.cookie}={given}")
    assert problem(door, path=f"/?token={TOKEN}") == ""
    assert problem(door, "any.example", path="/ws", Cookie=f"{door.cookie}={TOKEN}") == ""


@pytest.mark.parametrize(
    ("asked", "given"),
    [((100, 40), (100, 40)), (("x", None), (80, 24)), ((10**12, -5), (500, 8)), (("1e9", []), (80, 24))],
)
def test_a_browser_gets_a_terminal_of_a_sane_size(asked, given):
    assert bounded(*asked) == given


def test_any_file_name_is_one_header():
    assert _attachment('a "b"\r\nSet-Cookie: x; ü.html') == (
        'attachment; filename="a _b___Set-Cookie_ x_ _.html"; '
        "filename*=UTF-8''a%20%22b%22%0D%0ASet-Cookie%3A%20x%3B%20%C3%BC.html"
    )


@pytest.fixture
async def site():
    """A server for two browsers whose app is an echo."""
    server = WorkbenchServer([sys.executable, "-S", "-c", ECHO], AccessGuard(TOKEN), 2)
    async with TestServer(await server._make_app()) as site:
        yield site


async def test_everything_lies_behind_the_door(site):
    async with ClientSession(cookie_jar=None) as client:
        for path in ("/", "/ws", "/static/js/textual.js", "/page/page.js", "/download/x", "/nothing", "/static/"):
            async with client.get(site.make_url(path)) as answer:
                assert answer.status == 403, path
                assert "token" in await answer.text()
        async with client.get(site.make_url(f"/?token={TOKEN}")) as answer:
            assert answer.status == 200
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert "googleapis" not in await answer.text()  # no other host is asked for anything
            (cookie,) = answer.headers.getall("Set-Cookie")
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie


@pytest.mark.parametrize("token", ["", TOKEN])
async def test_what_is_no_handshake_is_refused_in_one_line(token, caplog):
    server = WorkbenchServer([sys.executable, "-S", "-c", ECHO], AccessGuard(token), 2)
    async with TestServer(await server._make_app()) as site, ClientSession() as client:
        own = f"http://{site.make_url('/').authority}"
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
        for headers in ({}, upgrade, {"Origin": own}, {"Origin": own, **upgrade}):
            async with client.get(site.make_url(f"/ws?token={token}"), headers=headers) as answer:
                assert answer.status == 403
                assert await answer.text() == "Only the server's own page may request this.\n"
    assert not [record for record in caplog.records if record.exc_info]


RESIZED = """
import sys
from textual.app import App
class Sizes(App):
    async def on_event(self, event):
        await super().on_event(event)
        if type(event).__name__ == "Resize":
            self.last = event.size
    def on_key(self):
        self.call_after_refresh(self.exit)
app = Sizes()
app.run()
print(app.last, file=sys.stderr)
"""


@pytest.mark.slow
def test_a_size_that_comes_while_an_app_starts_is_the_one_it_paints_in():
    told = b'{"type": "resize", "width": 77, "height": 23}'
    variables = {"TEXTUAL_DRIVER": DRIVER, "COLUMNS": "133", "ROWS": "33", "TERM": "xterm-256color"}
    with subprocess.Popen(
        [sys.executable, "-c", RESIZED],
        env={**os.environ, **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as app:
        assert app.stdin is not None
        assert app.stderr is not None
        app.stdin.write(b"M" + len(told).to_bytes(4, "big") + told + b"D" + (1).to_bytes(4, "big") + b"x")
        app.stdin.flush()
        assert app.stderr.readline() == b"Size(width=77, height=23)\n"


async def test_one_browser_too_many_is_told_so_and_a_place_becomes_free_again(site, until):
    page, socket_url = site.make_url(f"/?token={TOKEN}"), site.make_url(f"/ws?token={TOKEN}")
    origin = {"Origin": f"http://{page.authority}"}
    async with ClientSession() as client:
        open_ones = [await client.ws_connect(socket_url, headers=origin) for _ in range(2)]
        for one in open_ones:
            assert (await one.receive()).data == b"hello"
        async with client.get(page) as answer:
            assert answer.status == 503
            assert (await answer.text()).startswith("2 browsers")
        with pytest.raises(Exception, match="503"):
            await client.ws_connect(socket_url, headers=origin)
        # A message that the page never sends ends the connection, and the app with it.
        await open_ones[0].send_str('{"no": "list"}')
        while (await open_ones[0].receive()).type not in (WSMsgType.CLOSE, WSMsgType.CLOSED):
            pass
        await open_ones[0].close()
        third = await client.ws_connect(socket_url, headers=origin)
        assert (await third.receive()).data == b"hello"
        await third.send_str('["resize", {"width": 100000, "height": "many"}]')
        assert b'"width": 500, "height": 24' in (await third.receive()).data
        for one in (third, open_ones[1]):
            await one.close()


async def test_why_an_app_did_not_start_is_shown_and_not_obeyed():
    program = "import sys; sys.exit('ValueError: \\x1b]0;title\\x07\\x1b[31mno session')"
    server = WorkbenchServer([sys.executable, "-S", "-c", program], AccessGuard(TOKEN), 2)
    async with TestServer(await server._make_app()) as site, ClientSession() as client:
        address = site.make_url(f"/ws?token={TOKEN}")
        socket_ = await client.ws_connect(address, headers={"Origin": f"http://{address.authority}"})
        said = (await socket_.receive()).data
        assert said.endswith(b"The app ended: ValueError: no session")
        assert (await socket_.receive()).type in (WSMsgType.CLOSE, WSMsgType.CLOSED)


def test_two_servers_on_one_port(home, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 2
    assert "is in use, perhaps by another `workbench serve`; choose one with --port." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "no.such.name.invalid", "--port", "0"), "is not a name or address of this machine"),
        (("--origin", "docs.example.org"), "docs.example.org"),
        (("no-such-session",), "no-such-session"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(home, arguments, said, capsys):
    assert main(["serve", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_a_token_that_can_be_guessed_is_refused(home, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_SERVE_TOKEN", "secret")
    assert main(["serve"]) == 2
    assert "has 6 characters" in capsys.readouterr().err
    assert "WORKBENCH_SERVE_TOKEN" not in os.environ  # no app inherits it


def test_without_the_extra_it_says_what_to_install(home, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith(("textual_serve", "workbench.web"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    assert main(["serve"]) == 2
    assert "pip install 'docs-workbench[web]'" in capsys.readouterr().err


def children(pid: int) -> list[int]:
    return [int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
async def test_the_apps_end_with_a_server_that_is_killed(tmp_path, until):
    with serving(tmp_path) as served:
        address = served.address.replace("http", "ws", 1) + "ws"
        async with ClientSession() as client:
            browser = await client.ws_connect(address, headers={"Origin": served.address.rstrip("/")})
            while b"Workbench" not in (await browser.receive()).data:
                pass
            (app,) = children(served.process.pid)
            served.process.kill()
            served.process.wait()
            # Whoever takes orphans in has its exit code to fetch; it does nothing any more.
            await asyncio.to_thread(until, lambda: not Path(f"/proc/{app}/exe").exists())
