"""What systemd is told of a service, as sd_notify(3) describes it: one datagram a message."""

import os
import socket
from contextlib import suppress


def tell(*lines: str) -> None:
    """Tell systemd something, such as ``READY=1``, if it has asked for that; whether it listens does not matter."""
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    where = f"\0{path[1:]}" if path.startswith("@") else path  # one without a name in the file system
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out, suppress(OSError):
        out.settimeout(0)
        out.sendto("\n".join(lines).encode(), where)
