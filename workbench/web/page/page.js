// What textual.js must be told before it starts on `load`, and what it does in a way that a browser would block.
document.addEventListener("DOMContentLoaded", () => {
  const asked = new URLSearchParams(location.search);
  const terminal = document.querySelector("#terminal");
  // By the address that the browser used: through a tunnel or a proxy it is another than the server's own.
  const socket = new URL("ws", location.href);
  socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  if (asked.has("token")) socket.searchParams.set("token", asked.get("token"));
  terminal.dataset.sessionWebsocketUrl = socket.href;
  // A phone has about 45 columns of this size; `?fontsize=` overrides it.
  const size = Number(asked.get("fontsize")) || (window.innerWidth < 600 ? 13 : 16);
  terminal.dataset.fontSize = String(Math.min(40, Math.max(6, size)));
  document.querySelector("#again").addEventListener("click", () => location.reload());
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
