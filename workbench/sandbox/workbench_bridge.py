"""Inside a sandbox without a network, forward a port on 127.0.0.1 to a Unix socket outside.

``python -I -S workbench_bridge.py SOCKET PORT -- COMMAND…`` starts the command and returns its exit status. The module
uses only the standard library, because it runs on the interpreter of the program's environment.
"""

import os
import selectors
import signal
import socket
import sys
import threading


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Copy bytes in both directions until either side closes."""
    with one, other, selectors.DefaultSelector() as ready:
        ready.register(one, selectors.EVENT_READ, (one, other))
        ready.register(other, selectors.EVENT_READ, (other, one))
        try:
            while True:
                for key, _ in ready.select():
                    source, target = key.data
                    data = source.recv(65536)
                    if not data:
                        return
                    target.sendall(data)
        except OSError:
            return


def _serve(listener: socket.socket, outside: str) -> None:
    while True:
        try:
            inside, _ = listener.accept()
        except OSError:
            return
        try:
            link = socket.socket(socket.AF_UNIX)
            link.connect(outside)
        except OSError:
            inside.close()
            continue
        threading.Thread(target=_pump, args=(inside, link), daemon=True).start()


def main(arguments: list[str]) -> int:
    """Listen, run the command and return its exit status, or 128 plus the signal number if a signal ended it."""
    outside, port, dashes, *command = arguments
    assert dashes == "--"
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=256)
    os.set_inheritable(listener.fileno(), False)
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            os._exit(127)
    threading.Thread(target=_serve, args=(listener, outside), daemon=True).start()
    while True:
        # Process 1 must also reap the processes that the program has left behind.
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.stdout.flush()
    os._exit(main(sys.argv[1:]))
