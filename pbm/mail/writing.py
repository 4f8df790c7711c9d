"""Mails that go out: a row of the outbox becomes a message. No sockets here."""

from base64 import encodebytes
from email.charset import QP, Charset
from email.header import Header
from email.utils import format_datetime
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote

from pbm.mail import html
from pbm.mail.illustrations import Illustration
from pbm.store import Mail

CRLF = "\r\n"
UTF_8 = Charset("utf-8")
UTF_8.body_encoding = QP
BUT_BOUNCES = "DR, RN, NRN, OOF, AutoReply"
"""What Exchange is asked not to answer our mails to users with: all but the report that one has bounced."""
LONGEST_VALUE = 900
"""How many characters a header field may have that cannot be folded; a line has at most 998."""
LONGEST_WORD = 70
"""How long a word of a subject may be; one that is longer can only be folded in an encoded form."""


def compose(mail: Mail, server_address: str, illustration: Illustration | None = None) -> bytes:
    """The message of a row of the outbox: its text, and beside it the same in HTML where that is wanted.

    The HTML begins with a picture if there is one. Raises ValueError if something in it is no line of a header.
    """
    kind, body = _text(mail.text)
    if mail.html:
        picture = _picture(illustration.png, server_address) if illustration else None
        page = _html(html.page(mail, server_address, illustration, picture.name if picture else ""))
        kind, body = _alternative([(kind, body), _related(page, picture) if picture else page])
    return _header(mail, server_address, kind) + body


def _header(mail: Mail, server_address: str, kind: dict[str, str]) -> bytes:
    fields = {
        "From": server_address,
        "To": mail.address or "",
        "Date": format_datetime(mail.queued),
        "Message-ID": mail.message_id,
        "Auto-Submitted": "auto-generated" if mail.userid else "auto-replied",
        "X-Auto-Response-Suppress": BUT_BOUNCES if mail.userid else "All",
    }
    if mail.thread and mail.thread != mail.message_id:
        fields |= {"In-Reply-To": mail.thread, "References": mail.thread}
    if mail.reply_to:
        fields["Reply-To"] = mail.reply_to
    if mail.unsubscribe:
        # a reply address needs no password, so that the mail of any mail program does it
        to, command = (mail.reply_to, "unsubscribe") if mail.reply_to else (server_address, mail.unsubscribe)
        fields["List-Unsubscribe"] = f"<mailto:{to}?subject={quote(command, safe='')}>"
    lines = [
        f"{name}: {_checked(name, value)}{CRLF}" for name, value in (fields | {"MIME-Version": "1.0"} | kind).items()
    ]
    return "".join([*lines, _subject(mail.subject), CRLF]).encode("ascii")


def _checked(name: str, value: str) -> str:
    """A value of a few words, which stands on one line."""
    if not (value.isascii() and value.isprintable() and len(value) <= LONGEST_VALUE):
        raise ValueError(f"{name}: {value!r} is no line of a header.")
    return value


def _subject(subject: str) -> str:
    """The field for a subject, folded, and encoded where it has to be."""
    if not subject.isprintable():
        raise ValueError(f"Subject: {subject!r} is no line of a header.")
    if subject.isascii() and len(subject) <= LONGEST_WORD - len("Subject: ") and subject == subject.strip():
        return f"Subject: {subject}{CRLF}"
    is_plain = subject.isascii() and max(map(len, subject.split()), default=0) <= LONGEST_WORD
    header = Header(subject, None if is_plain else UTF_8, header_name="Subject")
    return f"Subject: {header.encode(linesep=CRLF)}{CRLF}"


MimePart = tuple[dict[str, str], bytes]
"""Header fields and the body that they are about. Parts are put together here in a quarter of the time email takes."""


def _text(text: str) -> MimePart:
    if text.isascii():
        return _fields("text/plain; charset=us-ascii", "7bit"), _lines(text)
    return _fields("text/plain; charset=utf-8", "quoted-printable"), _lines(UTF_8.body_encode(text))


def _html(page: str) -> MimePart:
    return _fields("text/html; charset=us-ascii", "7bit"), _lines(page)


class _Picture(NamedTuple):
    """A picture that a page shows."""

    name: str
    """Its Content-ID, without the angle brackets."""
    part: MimePart


def _picture(png: bytes, server_address: str) -> _Picture:
    name = f"{sha256(png).hexdigest()[:24]}@{server_address.rpartition('@')[2]}"
    fields = _fields("image/png", "base64") | {
        "Content-ID": f"<{name}>",
        "Content-Disposition": 'inline; filename="board.png"',
    }
    return _Picture(name, (fields, encodebytes(png).replace(b"\n", b"\r\n")))


def _related(page: MimePart, picture: _Picture) -> MimePart:
    """A page and the picture in it."""
    kind, body = _several("related", [page, picture.part])
    return {"Content-Type": f'{kind}; type="text/html"'}, body


def _alternative(parts: list[MimePart]) -> MimePart:
    """One of which the reader's program shows the last that it can."""
    kind, body = _several("alternative", parts)
    return {"Content-Type": kind}, body


def _several(kind: str, parts: list[MimePart]) -> tuple[str, bytes]:
    """The type of a body of several parts, and that body."""
    # nobody can write a text that contains its own hash, and so no comment can pretend to be another part
    boundary = f"=_{sha256(b''.join(body for _, body in parts)).hexdigest()[:24]}"
    delimiter = f"--{boundary}".encode()
    whole = b"".join(
        b"%s\r\n%s\r\n\r\n%s\r\n"
        % (delimiter, CRLF.join(f"{name}: {value}" for name, value in fields.items()).encode(), body)
        for fields, body in parts
    )
    return f'multipart/{kind}; boundary="{boundary}"', b"%s%s--\r\n" % (whole, delimiter)


def _fields(content_type: str, encoding: str) -> dict[str, str]:
    return {"Content-Type": content_type, "Content-Transfer-Encoding": encoding}


def _lines(ascii_text: str) -> bytes:
    return ascii_text.replace("\n", CRLF).encode("ascii")
