// What textual.js must be told before it starts, and what it does in a way that a browser would block.
document.addEventListener("DOMContentLoaded", () => {
  const asked = new URLSearchParams(location.search);
  const terminal = document.querySelector("#terminal");
  // By the address that the browser used: through a tunnel or a proxy it is another than the server's own.
  const socket = new URL("ws", location.href);
  socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  // It has no query: textual.js appends its own. The token comes as the cookie that this page's answer set.
  terminal.dataset.sessionWebsocketUrl = socket.href;
  // A phone has about 45 columns of this size; `?fontsize=` overrides it.
  const size = Number(asked.get("fontsize")) || (window.innerWidth < 600 ? 13 : 16);
  terminal.dataset.fontSize = String(Math.min(40, Math.max(6, size)));
  // A phone's keyboard has no escape, tab and ctrl: buttons press them where the terminal listens.
  for (const button of document.querySelectorAll("#keys button")) {
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the focus, and with it the phone's keyboard, stays as it is
      const { key, code, ctrl } = button.dataset;
      const pressed = new KeyboardEvent("keydown", { key, ctrlKey: Boolean(ctrl), bubbles: true, cancelable: true });
      Object.defineProperty(pressed, "keyCode", { value: Number(code) }); // xterm.js reads this one
      document.querySelector(".xterm-helper-textarea").dispatchEvent(pressed);
    });
  }
  document.querySelector("#again").addEventListener("click", () => location.reload());
});

// textual.js speaks while its socket is still connecting, which a browser refuses. The size it sends once more by itself.
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  if (this.readyState !== WebSocket.CONNECTING) send.call(this, data);
  else if (!data.startsWith('["resize"')) this.addEventListener("open", () => send.call(this, data), { once: true });
};

// Keys are for the app from the start, without a click.
const focusTerminal = () => document.querySelector(".xterm-helper-textarea")?.focus();
window.addEventListener("focus", focusTerminal);

// The terminal counts its columns by the font that is there when it is made, so the font comes first.
const font = Promise.race([document.fonts.load("16px 'Roboto Mono'"), new Promise((over) => setTimeout(over, 1000))]);
window.addEventListener("load", async () => {
  await font.catch(() => {});
  const script = document.createElement("script");
  script.src = "static/js/textual.js";
  script.addEventListener("load", () => {
    window.onload(); // textual.js waits for an event that is over
    focusTerminal();
  });
  document.body.append(script);
});

// A download comes when the report is written, long after the key: a window would be taken for a pop-up, a link is not.
const openWindow = window.open.bind(window);
window.open = (address, target) => {
  const url = new URL(address, location.href);
  if (url.origin === location.origin && url.pathname.startsWith("/download/")) {
    const link = document.createElement("a");
    link.href = url.href;
    link.download = "";
    document.body.append(link);
    link.click();
    link.remove();
    return null;
  }
  return /^https?:$/.test(url.protocol) ? openWindow(url.href, target, "noopener") : null;
};
