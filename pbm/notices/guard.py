"""The guard of a process that connects to where users say: no inner address, no other program."""

import sys
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network
TRANSLATED = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))
"""Addresses of IPv6 that a gateway may translate into any of IPv4, also an inner one."""
CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
"""What Python is about to do when something is sent to an address."""
PROGRAM_STARTS = frozenset(
    {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn", "subprocess.Popen"}
)
"""What Python is about to do when another program is started, which would have no guard."""


class NotPublic(OSError):
    """A connection to an address that is not public."""


def guard_this_process(inner: Sequence[Network] = ()) -> None:
    """Let this process connect only to public addresses, and to *inner* networks that the operator allows.

    This cannot be undone. It holds for all Python code, no matter which library connects: Python asks the hook at each
    connection, with the address that is really connected to. So a name that changes its address, or a redirection, does
    not lead anywhere else. Names are looked up before, by `socket.getaddrinfo`, which needs no socket of Python.
    """

    def check(event: str, arguments: tuple[object, ...]) -> None:
        if event in PROGRAM_STARTS:
            raise PermissionError(f"{event} is not allowed in a process that sends notices.")
        if event in CONNECTING and not is_allowed(arguments[1], inner):
            raise NotPublic("The address is not public.")

    sys.addaudithook(check)


def is_allowed(address: object, inner: Sequence[Network] = ()) -> bool:
    """Whether a socket may be connected to an address, as `socket.connect` takes it, such as ``("192.0.2.1", 443)``.

    A name in its place is refused, because it would be looked up again. None is a socket that is connected already.
    """
    if address is None:
        return True
    if not isinstance(address, tuple) or not isinstance(address[0], str):
        return False  # a socket in the file system
    try:
        host = ip_address(address[0])
    except ValueError:
        return False
    if isinstance(host, IPv6Address) and host.ipv4_mapped:
        host = host.ipv4_mapped
    return any(host in network for network in inner) or is_public(host)


def is_public(host: IPv4Address | IPv6Address) -> bool:
    """Whether an address is that of a machine of the Internet."""
    if host.is_multicast or any(host in network for network in TRANSLATED):
        return False
    return host.is_global
