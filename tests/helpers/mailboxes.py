"""A mailbox that is read by IMAP: its folders, and a server for it.

    mailbox = Mailbox()
    mailbox.add(message("help"))
    with serving(mailbox) as port:
        ...  # pbm fetch imap://alice@127.0.0.1:port
    assert mailbox.texts("INBOX") == []

``Mailbox(broken=["MOVE"])`` hangs up at the first MOVE; ``mailbox.said`` is what the client has said. With
``Mailbox("IMAP4rev1 AUTH=XOAUTH2", password="access-1")``, the password is an access token.
"""

import base64
import re
import socketserver
import threading
from contextlib import contextmanager

from helpers.patience import PATIENCE

PASSWORD = "imap password"
MOVING = "IMAP4rev1 AUTH=PLAIN IDLE MOVE UIDPLUS"
HANDLED = "pbm-handled"
REFUSAL = b'{"status":"401","schemes":"bearer","scope":"mail"}'
"""How a server explains that it refuses an access token."""


class Mailbox:
    """The folders of an IMAP server, and how it behaves."""

    def __init__(self, can=MOVING, tls=None, broken=(), password=PASSWORD):
        self.can = can
        self.password = password
        self.users = []
        self.shown = []
        self.tls = tls
        self.broken = list(broken)
        self.folders = {"INBOX": {}}
        self.flags = {}
        self.next = 1
        self.changed = threading.Condition()
        self.said = []

    def add(self, raw, folder="INBOX"):
        """Let a mail arrive, which is new."""
        with self.changed:
            self.folders[folder][self.next] = raw
            self.flags[self.next] = set()
            self.next += 1
            self.changed.notify_all()

    def texts(self, folder):
        """The mails in a folder."""
        return list(self.folders.get(folder, {}).values())

    def wait_for(self, count, folder=HANDLED):
        """Wait until so many mails are in a folder."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.texts(folder)) >= count, PATIENCE)


class Server(socketserver.ThreadingTCPServer):
    """A server of IMAP for one mailbox."""

    daemon_threads = True
    allow_reuse_address = True
    mailbox: Mailbox


class Talk(socketserver.StreamRequestHandler):
    """A connection. What imaplib needs of RFC 3501, 2177, 4315 and 6851."""

    server: Server

    def say(self, *lines):
        """Send lines, and bytes as they are."""
        self.wfile.write(b"".join(line if isinstance(line, bytes) else f"{line}\r\n".encode() for line in lines))
        self.wfile.flush()

    def handle(self):
        """Answer the commands of a client, one after another, until it hangs up or one is broken."""
        self.box = self.server.mailbox
        self.folder = ""
        self.searched = 0
        self.say(f"* OK [CAPABILITY {self.box.can}] ready")
        while line := self.rfile.readline().decode().rstrip():
            tag, _, command = line.partition(" ")
            name, _, rest = command.partition(" ")
            if name.upper() == "UID":
                name, _, rest = rest.partition(" ")
            self.box.said.append(re.sub(r"(?i)(login) .*", r"\1", command))
            if name.upper() in self.box.broken:
                self.box.broken.remove(name.upper())
                return
            with self.box.changed:
                answer = getattr(self, f"do_{name.lower()}")(rest)
                self.box.changed.notify_all()
            self.say(f"{tag} {answer or 'OK done'}")
            if name.upper() == "STARTTLS":
                self.request = self.box.tls.wrap_socket(self.request, server_side=True)
                self.setup()

    def do_starttls(self, _):
        pass

    def do_capability(self, _):
        self.say(f"* CAPABILITY {self.box.can}")

    def do_authenticate(self, mechanism):
        self.say("+")
        said = base64.b64decode(self.rfile.readline()).decode()
        if mechanism == "PLAIN":
            _, user, password = said.split("\0")
            return self.log_in(user, password)
        self.box.shown.append(said)
        if self.log_in(said.partition("\1")[0], said.partition("Bearer ")[2].rstrip("\1")) == "OK done":
            return "OK done"
        self.say(f"+ {base64.b64encode(REFUSAL).decode()}")
        self.box.shown.append(self.rfile.readline().decode())
        return "NO AUTHENTICATE failed"

    def do_login(self, rest):
        return self.log_in(*(re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', rest)))

    def log_in(self, user, password):
        """Note who logs in, and answer whether the password is right."""
        self.box.users.append(user)
        return "OK done" if password == self.box.password else "NO wrong password"

    def do_create(self, rest):
        if rest.strip('"') in self.box.folders:
            return "NO it is there"
        self.box.folders[rest.strip('"')] = {}
        return "OK done"

    def do_select(self, rest):
        self.folder = rest.strip('"')
        if self.folder not in self.box.folders:
            return "NO there is no such folder"
        self.say(f"* {len(self.box.folders[self.folder])} EXISTS")
        return "OK done"

    def do_noop(self, _):
        return "OK done"

    def do_search(self, _):
        found = [uid for uid in self.box.folders[self.folder] if not self.box.flags[uid] & {"\\Seen", "\\Deleted"}]
        self.say(f"* SEARCH {' '.join(map(str, found))}")
        self.searched = self.last()

    def last(self):
        """The highest number of a mail in the folder that is selected."""
        return max(self.box.folders[self.folder], default=0)

    def do_fetch(self, rest):
        uid = int(rest.split()[0])
        raw = self.box.folders[self.folder].get(uid)
        if raw is None:
            return
        first = raw[: int(re.search(r"BODY\.PEEK\[\]<0\.(\d+)>", rest)[1])]
        self.say(b"* 1 FETCH (UID %d BODY[]<0> {%d}\r\n" % (uid, len(first)), first, ")")

    def do_copy(self, rest):
        uid, folder = rest.split(" ", 1)
        self.box.folders[folder.strip('"')][self.box.next] = self.box.folders[self.folder][int(uid)]
        self.box.flags[self.box.next] = set()
        self.box.next += 1

    def do_store(self, rest):
        uid, _, flags = rest.split(" ", 2)
        self.box.flags[int(uid)] |= set(flags.strip("()").split())

    def do_expunge(self, rest):
        del self.box.folders[self.folder][int(rest)]

    def do_move(self, rest):
        self.do_copy(rest)
        self.do_expunge(rest.split()[0])

    def do_idle(self, _):
        self.say("+ idling")
        self.box.changed.wait_for(lambda: self.last() > self.searched, 20)
        self.say(f"* {len(self.box.folders[self.folder])} EXISTS")
        assert self.rfile.readline() == b"DONE\r\n"

    def do_logout(self, _):
        self.say("* BYE")


@contextmanager
def serving(mailbox, tls=None, talk=Talk):
    """The port of a server with that mailbox; with TLS from the first byte if there is something for it."""
    with Server(("127.0.0.1", 0), talk) as server:
        server.mailbox = mailbox
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
