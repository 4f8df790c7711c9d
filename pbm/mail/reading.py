"""Reading: the bytes of a mail become what counts of it. Whatever the bytes are, nothing here raises."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from encodings import normalize_encoding
from encodings.aliases import aliases
from typing import NamedTuple

from pbm.mail import automatic, quotes
from pbm.mail.automatic import ADDED, MOST_HEADER, without_comments
from pbm.names import is_address
from pbm.texts import clean, one_line

MOST_TEXT, MOST_HTML = 100_000, 300_000
"""How many characters of a text are looked at."""
MOST_BODY = 100_000
"""How many characters are kept of what somebody wrote themselves."""
MOST_PARTS, LONGEST_FIELD, MOST_COMPARED = 1000, 5000, 2_000_000
"""A mail that exceeds one of these is not taken apart: that would cost the square of the bytes of a field that
describes a part, and the lines times the boundaries with which each is compared."""
DESCRIPTIONS = re.compile(rb"(?im)^content-[a-z-]+[ \t]*:.*\n(?:[ \t].*\n)*")
ON_THE_WAY = re.compile(rb"(?im)^(?:received|return-path|delivered-to):.*\r?\n(?:[ \t].*\r?\n)*")
"""Header fields that differ between two deliveries of one mail."""
CHARSETS = {*aliases, *aliases.values(), "cp720", "cp874", "koi8_t", "koi8_u"} - {
    name for alias, codec in aliases.items() if codec.endswith(("_codec", "rot_13")) for name in (alias, codec)
}
"""The charsets in which text is really written. Python has more codecs: some are none for text, some are slow."""
WIDER = {"latin_1": "cp1252", "ascii": "utf_8", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
"""What programs really write when they name the smaller charset."""
UNLIKE_ASCII = "utf_16", "utf_32", "cp037", "cp500", "cp1026", "cp1140"
"""How the names of codecs begin in which ASCII letters have other bytes."""
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*("|\\?\Z)', re.DOTALL)
"""A text in quotation marks, or all behind a mark that begins one without an end."""
END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
LOOSE = re.compile(rb"(?m)^([!-9;-~]+)[ \t]+:")
"""A header field with a blank in front of the colon, which RFC 5322 still knows, and the parser does not."""
LINK = re.compile(r" ?<mailto:([^\s<>]{1,40})>")
"""What Outlook puts behind an address in plain text; it takes ``d2@nnen`` for one."""
BASE64 = re.compile("[A-Za-z0-9+/]+={0,2}")


class Report(NamedTuple):
    """What a mail server says of a mail that it got."""

    has_failed: bool
    """Whether it has given up, and does not merely try again."""
    message_id: str
    """The Message-ID of that mail, if the report tells it."""


class Incoming(NamedTuple):
    """What counts of a mail that came in."""

    sender: str | None
    """The one address that it is from; None if there is not exactly one."""
    message_id: str
    subject: str
    body: str = ""
    """What its writer wrote, line by line as typed, without the mail that they answer and without their signature."""
    quoted: str = ""
    """The first line, if its writer wrote nothing but that and put an angle bracket in front of it."""
    is_automatic: bool = False
    """Whether a program sent it, which must never be answered."""
    wants_no_answer: bool = False
    """Whether it says that programs should not answer it, which mails of people do as well."""
    report: Report | None = None
    senders: Sequence[str] = ()
    """All addresses that it is from, in small letters."""


def read(raw: bytes, envelope_sender: str | None) -> Incoming:
    """Read a mail; the envelope's sender is empty for a bounce, and None if it is not known."""
    message, text, report = _opened(raw)
    fields: dict[str, list[str]] = {}
    for name, value in message.raw_items():
        fields.setdefault(name.lower(), []).append(str(value))
    found = senders(fields.get("from", ()))
    sender = next((one for one in (*found, envelope_sender or "") if is_address(one)), None) if len(found) < 2 else None
    subject, message_id, body = _line(fields, "subject"), _line(fields, "message-id"), quotes.own(text)[:MOST_BODY]
    return Incoming(
        sender=sender,
        message_id=message_id if message_id.strip("<>()@. ") else fingerprint(raw),
        subject=subject,
        body=body,
        quoted=quotes.lone_quotation(text)[:MOST_BODY],
        is_automatic=report is not None
        or automatic.is_automatic(message, fields, sender, envelope_sender)
        or automatic.is_reaction(_all_parts(message), body),
        wants_no_answer=not ADDED.isdisjoint(fields)
        or any(value.strip().lower() not in {"", "none"} for value in fields.get("x-auto-response-suppress", ())),
        report=report,
        senders=[address.lower() for address in found],
    )


def _opened(raw: bytes) -> tuple[Message, str, Report | None]:
    """A message, its text, and what it reports; only the header of one that is too intricate to be a person's."""
    # the parser wants nothing in front of the header, nor between a name and its colon
    raw = raw.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    end = END_OF_HEADER.search(raw)
    at = end.start() if end else len(raw)
    raw = LOOSE.sub(rb"\1:", raw[:at]) + raw[at:]
    lowered = raw.lower()
    is_small = (
        lowered.count(b"\n--") + lowered.count(b"\naction:") <= MOST_PARTS
        and lowered.count(b"boundary") * lowered.count(b"\n") <= MOST_COMPARED
        and all(len(field[0]) <= LONGEST_FIELD for field in DESCRIPTIONS.finditer(lowered))
    )
    if is_small:
        with suppress(RecursionError, MessageError, ValueError, LookupError, TypeError):
            message = message_from_bytes(raw)
            text = _text_in(message, has_name=False) or _text_in(message, has_name=True)
            return message, text, _report(message)
    return BytesHeaderParser().parsebytes(raw), "", None


def senders(fields: Iterable[str]) -> list[str]:
    """The addresses that the values of From say a mail is from, each once.

    Names are often written without the quotation marks that they need: a comma or an @ in a name makes no address. What
    is encoded, quoted or a comment has none, either: somebody may have made it look like one.
    """
    found = []
    for field in fields:
        text = without_comments(QUOTED.sub(lambda text: " " if text[1] == '"' else text[0], field[:MOST_HEADER]))
        elements = re.split("[,;]", re.sub("<[^<>]*>", lambda angle: angle[0].replace(",", " "), text))
        for element in elements:
            angles = re.findall("<([^<>]*)>", element)
            words = angles or [word for word in re.split(r"[\s:]+", element) if re.search("[^@]@[^@]", word)]
            found += [word.rpartition(":")[2].strip("<>. \t\r\n\xa0") for word in words]
    return list({address.lower(): address for address in found}.values())


def fingerprint(raw: bytes) -> str:
    """What stands for the Message-ID of a mail that has none: its SHA-256, without what was added on its way."""
    end = END_OF_HEADER.search(raw)
    header, body = (raw[: end.start() + 2], raw[end.start() + 2 :]) if end else (raw, b"")
    return f"sha256:{hashlib.sha256(ON_THE_WAY.sub(b'', header) + body).hexdigest()}"


def _line(fields: dict[str, list[str]], name: str) -> str:
    """A header field as one line of readable text; empty if it is missing."""
    if name not in fields:
        return ""
    # some programs write letters outside ASCII as they are
    value = _decoded(fields[name][0][:MOST_HEADER].encode("utf-8", "surrogateescape"), "")
    if "=?" in value:
        with suppress(MessageError, ValueError, LookupError):
            value = "".join(_word(*part) for part in decode_header(re.sub(r"[\r\n]+", "", value)))
    return one_line(value)


def _word(text: str | bytes, charset: str | None) -> str:
    """A part of a header field; those that are not encoded come as bytes in a code of Python's own."""
    if isinstance(text, str):
        return text
    return _decoded(text, charset.partition("*")[0]) if charset else text.decode("raw-unicode-escape", "replace")


def _text_in(part: Message, *, has_name: bool) -> str:
    """The first text in a part of a mail that is not empty, plain text before HTML.

    It may be a file that is shown with the mail if it *has a name*.
    """
    kind = "".join(part.get_content_type().split()[:1])  # a parameter may follow without its semicolon
    disposition = part.get_content_disposition()
    if disposition in {"attachment", "reaction"}:
        return ""
    parameters: dict[str, object] = {}
    with suppress(ValueError, TypeError):  # the pieces of one (RFC 2231) may not fit together
        parameters = {
            name.lower(): value for name, value in reversed(part.get_params([]))
        }  # the first of a name counts
    is_file = (disposition is not None or "name" in parameters) and part.get_filename()
    if is_file and not (has_name and disposition in {None, "inline"}):
        return ""
    if part.is_multipart():
        parts = _parts(part) if kind.startswith("multipart/") else []  # else it is a mail that was passed on
        if kind == "multipart/alternative":
            parts.sort(key=lambda one: one.get_content_type() != "text/plain")
        return next((text for one in parts if (text := _text_in(one, has_name=has_name)).strip()), "")
    if kind not in {"text/plain", "text/html"} and not kind.startswith("multipart/"):  # one without parts is a text
        return ""
    most = MOST_HTML if kind == "text/html" else MOST_TEXT
    text = _decoded(_payload(part), str(parameters.get("charset") or ""))[:most]
    text = "\n".join(text.splitlines())  # which end in many ways, and with Apple's programs in U+2028
    if kind == "text/html":
        from pbm.mail.unhtml import to_text

        return clean(to_text(text))[:MOST_TEXT]
    if str(parameters.get("format")).lower() == "flowed":
        text = _unflowed(text, joins_words=str(parameters.get("delsp")).lower() == "yes")
    return clean(LINK.sub(_without_repetition, text))


def _payload(part: Message) -> bytes:
    """The bytes of a part that is no multipart; if it is in base64, without plain lines that were put under it."""
    encoding = without_comments(str(part.get("Content-Transfer-Encoding", ""))).strip(' "\t\r\n').lower()
    if encoding in {"base64", "quoted-printable"}:
        part.replace_header("Content-Transfer-Encoding", encoding)
    if encoding == "base64":
        with suppress(ValueError, LookupError):
            lines = str(part.get_payload()).strip().splitlines()
            last = next((at for at, line in enumerate(lines) if not BASE64.fullmatch(line.strip())), len(lines))
            last = next((at + 1 for at in range(last) if lines[at].rstrip().endswith("=")), last)
            if 0 < last < len(lines):
                part.set_payload("\n".join(lines[:last]))
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _parts(message: Message) -> list[Message]:
    parts = message.get_payload()
    return [part for part in parts if isinstance(part, Message)] if isinstance(parts, list) else []


def _without_repetition(link: re.Match[str]) -> str:
    """A link as it stands in a text; nothing if it only repeats the word in front of it."""
    word, at = link[1], link.start()
    return "" if link.string[max(0, at - len(word)) : at] == word else link[0]


def _decoded(raw: bytes, charset: str) -> str:
    """Text in a charset that a mail names, which is often missing, unknown or wrong."""
    name = normalize_encoding(charset).lower() if charset.isascii() and len(charset) < 40 else ""
    codec = aliases.get(name, name) if name in CHARSETS else "utf_8"
    if codec.startswith(UNLIKE_ASCII) and raw.isascii() and b"\0" not in raw:
        codec = "utf_8"  # the name is wrong
    for one in (WIDER.get(codec, codec), "utf_8"):
        with suppress(UnicodeError, LookupError):  # not every name that Python knows has a codec on every system
            return raw.decode(one)
    return raw.decode("cp1252", "replace")


def _unflowed(text: str, *, joins_words: bool) -> str:
    """A text with the lines of each paragraph as one (RFC 3676); quoted lines stay quoted."""
    paragraphs: list[list[str]] = []
    depth_before = -1  # that of a paragraph which goes on
    for line in text.split("\n"):
        words = line.lstrip(">")
        depth = len(line) - len(words)
        words = words.removeprefix(" ")
        flows = words.endswith(" ") and words != "-- "
        part = words[:-1] if flows and joins_words else words
        if depth == depth_before and words != "-- ":
            paragraphs[-1].append(part)
        else:
            paragraphs.append([f"{'>' * depth} " if depth else "", part])
        depth_before = depth if flows else -1
    return "\n".join("".join(parts) for parts in paragraphs)


def _report(message: Message) -> Report | None:
    """What a mail server reports of a mail (RFC 3464); None if a message is no such report."""
    parts = list(_all_parts(message))
    actions = [
        str(block["Action"] or "").partition("(")[0].strip().lower()
        for part in parts
        if part.get_content_type() == "message/delivery-status"
        for block in _parts(part)
    ]
    return Report("failed" in actions, _returned_id(parts)) if any(actions) else None


def _returned_id(parts: list[Message]) -> str:
    """The Message-ID of the mail that a report gives back, whole or its header."""
    for part in parts:
        returned = _parts(part) if part.get_content_type() == "message/rfc822" else []
        if part.get_content_type() == "text/rfc822-headers":
            returned = [BytesHeaderParser().parsebytes(_payload(part))]
        if returned:
            return str(returned[0]["Message-ID"] or "").strip()
    return ""


def _all_parts(message: Message) -> Iterator[Message]:
    """A message and its parts, but not those of mails within it."""
    yield message
    if message.get_content_maintype() == "multipart":
        for part in _parts(message):
            yield from _all_parts(part)
