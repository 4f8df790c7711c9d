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
from typing import NamedTuple

from pbm.mail import automatic, quotes
from pbm.mail.automatic import ADDED, MOST_HEADER, without_comments
from pbm.mail.charsets import UNDECODED, decoded, mark, with_guesses
from pbm.mail.transfer import LONE_ESCAPE, base64_decoded, quoted_printable_decoded
from pbm.names import is_address
from pbm.texts import clean, one_line

MOST_TEXT = 100_000
"""How many characters of a text are looked at."""
MOST_HTML = 300_000
"""How many characters of HTML are looked at; many of them are tags."""
MOST_BODY = 100_000
"""How many characters are kept of what somebody wrote themselves."""
MOST_PARTS = 1000
LONGEST_FIELD = 5000
MOST_COMPARED = 2_000_000
"""A mail that exceeds one of these three is not taken apart, because that would take too long. It would cost the square
of the bytes of a field that describes a part, and compare each line with each boundary."""
DESCRIPTIONS = re.compile(rb"(?im)^content-[a-z-]+[ \t]*:.*\n(?:[ \t].*\n)*")
"""A field that describes a part, such as ``Content-Type: text/plain;`` with the lines in which it goes on."""
ON_THE_WAY = re.compile(
    rb"(?im)^(?:received|return-path|delivered-to|x-original-to|envelope-to|x-envelope-to|delivery-date):.*\r?\n"
    rb"(?:[ \t].*\r?\n)*"
)
"""The header fields that differ between two deliveries of one mail."""
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*("|\\?\Z)', re.DOTALL)
"""A text in quotation marks, or all behind a mark that begins one without an end."""
END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
LOOSE = re.compile(rb"(?m)^([!-9;-~]+)[ \t]+:")
"""A header field with a blank in front of the colon, which RFC 5322 still knows, and the parser does not."""
WRAPPED = re.compile(r"x-spam-type\s*=\s*\"?original", re.IGNORECASE)
"""How SpamAssassin marks the part of its report that is the mail itself."""
OF_ENVELOPE = "from", "return-path", "message-id"
"""The header fields that are taken from such a report."""
LINK = re.compile(r" ?<mailto:([^\s<>]{1,40})>")
"""What Outlook puts behind an address in plain text; it takes ``d2@nnen`` for one."""
ENCODING = "Content-Transfer-Encoding"
ABOVE_HEADER = re.compile(rb"\xef\xbb\xbf|[ \t]*[\r\n]")
"""What may stand in front of a header: a byte order mark, and empty lines."""
POSTMARK = re.compile(rb"(?m)^>*From (?![ \t]*:).*(?:\n|\Z)")
"""The line that begins a mail in a mailbox."""
TORN = re.compile(
    rb"(?i)((?:(?:received|return-path|delivered-to|x-original-to|envelope-to):.*\n(?:[ \t].*\n)*)+)[\r\n]+"
    rb"(?=(?:[!-9;-~]+:.*\n(?:[ \t].*\n)*)*?from:)"
)
"""Fields that were put above a header on its way, and the empty line below them, which they should not have.

An example is ``Received: by mx``, an empty line, and ``From: alice@example.org``.
"""
CARRIED = re.compile(rb"(?<!\r)\r{2,}\n")
"""The end of a line that a program has made of the end of a line."""
NOT_SHOWN = frozenset(
    "text/calendar text/css text/directory text/ecmascript text/javascript text/rfc822-headers text/vcard "
    "text/vnd.google.email-reaction+json text/x-amp-html text/x-vcard".split()
)
"""Kinds of text that mail programs do not show as the text of a mail."""
SHOWN_FIRST = {"text/plain": 0, "text/html": 1}
"""Which alternative is read, if there is one; last comes what is in no kind that we know (RFC 2046, 4.1.4)."""
UNDECODABLE = (
    "Nothing was done: the text of this mail was damaged on its way (its base64 cannot be decoded). "
    "Please send it again."
)
UNREADABLE = (
    "Nothing was done: this mail cannot be taken apart, because its header contradicts itself. "
    "Please send it as plain text."
)


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
    is_probably_automatic: bool = False
    """Whether a program may have sent it; then a mistake in it is not answered."""
    wants_no_answer: bool = False
    """Whether it says that programs should not answer it, which mails of people do as well."""
    report: Report | None = None
    senders: Sequence[str] = ()
    """All addresses that it is from, in small letters."""
    recipients: Sequence[str] = ()
    """The values of its fields To and Cc."""
    fault: str = ""
    """Why nothing of it can be believed, as a sentence for its sender; empty if it can be read."""
    doubtful: frozenset[str] = frozenset()
    """The lines of the mail with characters that could not be decoded, and are guessed."""


class Opened(NamedTuple):
    """A mail that was taken apart."""

    message: Message
    text: str = ""
    report: Report | None = None
    fault: str = ""


class DamagedError(ValueError):
    """A text that cannot be decoded."""


def read(raw: bytes, envelope_sender: str | None) -> Incoming:
    """Read a mail; the envelope's sender is empty for a bounce, and None if it is not known."""
    try:
        return _read(raw, envelope_sender)
    except Exception:  # whatever the parser raises for an odd header, it does so each time that the mail comes
        return Incoming(sender=None, message_id=fingerprint(raw), subject="", fault=UNREADABLE)


def header(raw: bytes) -> Message:
    """The header of a mail; an empty one if the parser makes nothing of it."""
    try:
        return _header(raw)
    except Exception:  # whatever the parser raises for an odd header
        return Message()


def _header(raw: bytes) -> Message:
    return BytesHeaderParser().parsebytes(_parted(raw)[0])


def _read(raw: bytes, envelope_sender: str | None) -> Incoming:
    """Read a mail. Raises whatever the parser raises."""
    message, marked, report, fault = _opened(raw)
    fields: dict[str, list[str]] = {}
    for name, value in message.raw_items():
        fields.setdefault(name.lower(), []).append(str(value))
    addresses = senders(fields.get("from", ()))
    message_id = _line(fields, "message-id")
    if not message_id.strip("<>()@. "):
        message_id = fingerprint(raw)

    text = with_guesses(marked)
    body = quotes.own(text)[:MOST_BODY]
    doubtful = [quotes.visible(with_guesses(line)) for line in marked.split("\n") if UNDECODED.search(line)]
    quoted = ""
    if not doubtful:
        quoted = quotes.lone_quotation(text)[:MOST_BODY]
    marked_subject = _line(fields, "subject")
    subject = with_guesses(marked_subject)
    if UNDECODED.search(marked_subject):
        doubtful.append(subject)

    is_automatic = (
        report is not None
        or automatic.is_automatic(message, fields, envelope_sender)
        or automatic.is_reaction(_all_parts(message), body)
    )
    suppressed = [value.strip().lower() for value in fields.get("x-auto-response-suppress", ())]
    wants_no_answer = not ADDED.isdisjoint(fields) or any(value not in {"", "none"} for value in suppressed)
    return Incoming(
        sender=_sender(addresses, envelope_sender),
        message_id=message_id,
        subject=subject,
        body=body,
        quoted=quoted,
        is_automatic=is_automatic,
        is_probably_automatic=automatic.is_probably_automatic(fields, body),
        wants_no_answer=wants_no_answer,
        report=report,
        senders=[address.lower() for address in addresses],
        recipients=[value[:MOST_HEADER] for name in ("to", "cc") for value in fields.get(name, ())],
        fault=fault,
        doubtful=frozenset(doubtful),
    )


def _sender(addresses: Sequence[str], envelope_sender: str | None) -> str | None:
    """The one address that a mail is from, by the addresses in its From; None if there are several or none."""
    if len(addresses) > 1:
        return None
    for address in addresses:
        if is_address(address):
            return address
    # some programs write no From, or one without an address
    if is_address(envelope_sender or ""):
        return envelope_sender
    return None


def _parted(raw: bytes) -> tuple[bytes, bytes]:
    """The header of a mail, and its body with the line end in front of it.

    The parser wants nothing in front of the header, and nothing between a name and its colon.
    """
    raw = CARRIED.sub(b"\n", raw)
    begin = 0
    while in_front := ABOVE_HEADER.match(raw, begin) or POSTMARK.match(raw, begin):
        begin = in_front.end()
    if torn := TORN.match(raw, begin):
        raw = torn[1] + raw[torn.end() :]
        begin = 0
    empty_line = END_OF_HEADER.search(raw, begin)
    end = empty_line.start() if empty_line else len(raw)
    header = POSTMARK.sub(b"", raw[begin:end])
    return LOOSE.sub(rb"\1:", header), raw[end:]


def _opened(raw: bytes) -> Opened:
    """Take a mail apart, but not if it is too intricate to be a person's, or if the parser fails."""
    raw = b"".join(_parted(raw))
    lowered = raw.lower()
    is_small = (
        lowered.count(b"\n--") + lowered.count(b"\naction:") <= MOST_PARTS
        and lowered.count(b"boundary") * lowered.count(b"\n") <= MOST_COMPARED
        and all(len(field[0]) <= LONGEST_FIELD for field in DESCRIPTIONS.finditer(lowered))
    )
    fault = ""
    if is_small:
        try:
            message = _unwrapped(message_from_bytes(raw))
            text = _text_in(message, has_name=False) or _text_in(message, has_name=True)
            return Opened(message, text, _report(message))
        except DamagedError:
            return Opened(message, report=_report(message), fault=UNDECODABLE)
        except RecursionError:
            pass  # its parts are nested too deep, as in no mail of a person: it counts as one without a text
        except Exception:
            fault = UNREADABLE
    return Opened(_header(raw), fault=fault)


def _unwrapped(message: Message) -> Message:
    """The mail that SpamAssassin has put into a report of its own (`report_safe`); any other mail as it is.

    Its sender stays that of the report, which is what mail servers have checked on its way.
    """
    if not message.is_multipart() or message.get_content_type() != "multipart/mixed":
        return message
    wrapped = [part for part in _parts(message) if WRAPPED.search(str(part.get("Content-Type", "")))]
    if not wrapped:
        return message
    inner = _parts(wrapped[0])
    if inner:
        original = inner[0]
    else:
        payload = wrapped[0].get_payload(decode=True)
        raw = payload if isinstance(payload, bytes) else b""
        original = message_from_bytes(raw)
    for name in OF_ENVELOPE:
        del original[name]
    for name, value in message.raw_items():
        if name.lower() in OF_ENVELOPE:
            original.set_raw(name, value)
    return original


def senders(fields: Iterable[str]) -> list[str]:
    """The addresses that the values of From say a mail is from, each once.

    Names are often written without the quotation marks that they need: a comma or an @ in a name makes no address. What
    is encoded, quoted or a comment has none, either: somebody may have made it look like one.
    """
    addresses = []
    for field in fields:
        text = without_comments(QUOTED.sub(_blank_if_closed, field[:MOST_HEADER]))
        # a comma within angle brackets parts a route of hosts, and not two addresses
        text = re.sub("<[^<>]*>", lambda angle: angle[0].replace(",", " "), text)
        for element in re.split("[,;]", text):
            written = re.findall("<([^<>]*)>", element)
            if not written:
                written = [word for word in re.split(r"[\s:]+", element) if re.search("[^@]@[^@]", word)]
            addresses += [address.rpartition(":")[2].strip("<>. \t\r\n\xa0") for address in written]
    return list({address.lower(): address for address in addresses}.values())


def _blank_if_closed(quoted: re.Match[str]) -> str:
    """A blank for a text in quotation marks; the text itself if its second mark is missing."""
    return " " if quoted[1] == '"' else quoted[0]


def fingerprint(raw: bytes) -> str:
    """What stands for the Message-ID of a mail that has none: its SHA-256, without what was added on its way."""
    empty_line = END_OF_HEADER.search(raw)
    end = empty_line.start() + 2 if empty_line else len(raw)
    lasting = ON_THE_WAY.sub(b"", raw[:end]) + raw[end:]
    return f"sha256:{hashlib.sha256(lasting).hexdigest()}"


def _line(fields: dict[str, list[str]], name: str) -> str:
    """A header field as one line of text, with marks for what could not be decoded; empty if it is missing."""
    if name not in fields:
        return ""
    # some programs write letters outside ASCII as they are
    value = with_guesses(decoded(fields[name][0][:MOST_HEADER].encode("utf-8", "surrogateescape"), ""))
    if "=?" in value:
        with suppress(MessageError, ValueError, LookupError):
            value = "".join(_word(*part) for part in decode_header(re.sub(r"[\r\n]+", "", value)))
    return one_line(value)


def _word(text: str | bytes, charset: str | None) -> str:
    """A part of a header field; those that are not encoded come as bytes in a code of Python's own."""
    if isinstance(text, str):
        return text
    if not charset:
        return text.decode("raw-unicode-escape", "replace")
    return decoded(text, charset.partition("*")[0])  # a language may stand behind it (RFC 2231)


def _text_in(part: Message, *, has_name: bool) -> str:
    """The text that a part of a mail shows: its parts below each other, and of alternatives plain text before HTML.

    It may be a file that is shown with the mail if it *has a name*. Raises DamagedError if it cannot be decoded.
    """
    kind = _kind_of(part)
    disposition = part.get_content_disposition()
    if disposition in {"attachment", "reaction"}:
        return ""
    parameters = _parameters_of(part)
    is_file = (disposition is not None or "name" in parameters) and part.get_filename()
    if is_file and not (has_name and disposition in {None, "inline"}):
        return ""
    if not part.is_multipart():
        return _shown_text(part, kind, parameters)
    if not kind.startswith("multipart/"):
        return ""  # it is a mail that was passed on
    parts = _parts(part)
    is_alternative = kind == "multipart/alternative"
    if is_alternative:
        parts.sort(key=_rank_of_alternative)
    texts = (_text_in(part, has_name=has_name).strip("\n") for part in parts)
    shown = filter(str.strip, texts)
    if is_alternative:
        return next(shown, "")
    return "\n".join(shown)[:MOST_TEXT]


def _rank_of_alternative(part: Message) -> int:
    """How late an alternative is read: plain text, then HTML or what has parts, which may be HTML, then the rest."""
    if part.is_multipart():
        return SHOWN_FIRST.get(_kind_of(part), 1)
    return SHOWN_FIRST.get(_kind_of(part), 2)


def _shown_text(part: Message, kind: str, parameters: dict[str, str]) -> str:
    """The text of a part that is no multipart; empty if it is no text. Raises DamagedError."""
    if not kind.startswith(("text/", "multipart/")) or kind in NOT_SHOWN:  # a multipart without parts is a text
        return ""
    charset = parameters.get("charset", "")
    payload = _payload(part, charset)
    if payload is None:
        raise DamagedError
    most = MOST_HTML if kind == "text/html" else MOST_TEXT
    text = decoded(payload, charset).replace(LONE_ESCAPE.decode(), mark(ord("=")))[:most]
    text = "\n".join(text.splitlines())  # which end in many ways, and with Apple's programs in U+2028
    if kind == "text/html":
        from pbm.mail.unhtml import to_text

        return clean(to_text(text))[:MOST_TEXT]
    if parameters.get("format", "").lower() == "flowed":
        text = _unflowed(text, joins_words=parameters.get("delsp", "").lower() == "yes")
    return clean(LINK.sub(_without_repetition, text))


def _parameters_of(part: Message) -> dict[str, str]:
    """What stands behind the type of a part, such as its charset; the first of a name counts."""
    parameters: dict[str, str] = {}
    with suppress(ValueError, TypeError):  # the pieces of one (RFC 2231) may not fit together
        for name, value in part.get_params([]):
            text = value[2] if isinstance(value, tuple) else value
            parameters.setdefault(name.lower(), text)
    return parameters


def _kind_of(part: Message) -> str:
    """The type of a part, in small letters; ``text/html`` and ``text/plain`` also where that is spelt otherwise."""
    slashed = re.sub(r"\s*/\s*", "/", part.get_content_type())
    kind = "".join(slashed.split()[:1]).strip("\"',:")  # a parameter may follow without its semicolon
    main, _, subtype = kind.partition("/")
    if kind in NOT_SHOWN or main == "multipart":
        return kind
    if kind in {"application/xhtml+xml", "text/xhtml", "html/text"}:
        return "text/html"
    if subtype in {"text", "plain"} or kind == "text/":
        return "text/plain"
    return kind


def _payload(part: Message, charset: str) -> bytes | None:
    """The bytes of a part that is no multipart; None if they cannot be decoded."""
    written = part.get(ENCODING, "")
    encoding = re.sub("[^a-z0-9]", "", without_comments(str(written)).partition(";")[0].lower())
    is_base64 = "base64" in encoding or encoding == "b64"
    is_quoted_printable = encoding.startswith("quoted") or encoding == "qp"
    if is_base64 or is_quoted_printable:
        part.replace_header(ENCODING, "8bit")  # Python decodes as much as it can, and we all or nothing
    payload = part.get_payload(decode=True)
    if is_base64 or is_quoted_printable:
        part.replace_header(ENCODING, written)  # the part may be asked once more
    raw = payload if isinstance(payload, bytes) else b""
    if is_base64:
        return base64_decoded(raw, charset)
    if is_quoted_printable:
        return quoted_printable_decoded(raw)
    return raw


def _parts(message: Message) -> list[Message]:
    """The parts of a message, not those within its parts; none if it is no multipart."""
    payload = message.get_payload()
    if not isinstance(payload, list):
        return []
    return [part for part in payload if isinstance(part, Message)]


def _without_repetition(link: re.Match[str]) -> str:
    """A link as it stands in a text; nothing if it only repeats the word in front of it."""
    word = link[1]
    in_front = link.string[max(0, link.start() - len(word)) : link.start()]
    return "" if in_front == word else link[0]


def _unflowed(text: str, *, joins_words: bool) -> str:
    """A text with the lines of each paragraph as one (RFC 3676); quoted lines stay quoted."""
    paragraphs: list[list[str]] = []
    depth_before = -1  # that of a paragraph which goes on
    for line in text.split("\n"):
        words = line.lstrip(">")
        depth = len(line) - len(words)
        words = words.removeprefix(" ")
        is_signature = words == "-- "  # its blank is no sign that the line goes on
        flows = words.endswith(" ") and not is_signature
        part = words
        if flows and joins_words:
            part = words[:-1]
        if depth == depth_before and not is_signature:
            paragraphs[-1].append(part)
        else:
            marks = f"{'>' * depth} " if depth else ""
            paragraphs.append([marks, part])
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
    if not any(actions):
        return None
    return Report("failed" in actions, _returned_id(parts))


def _returned_id(parts: list[Message]) -> str:
    """The Message-ID of the mail that a report gives back, whole or its header."""
    for part in parts:
        returned: list[Message] = []
        if part.get_content_type() == "message/rfc822":
            returned = _parts(part)
        elif part.get_content_type() == "text/rfc822-headers":
            returned = [BytesHeaderParser().parsebytes(_payload(part, "") or b"")]
        if returned:
            return str(returned[0]["Message-ID"] or "").strip()
    return ""


def _all_parts(message: Message) -> Iterator[Message]:
    """A message and its parts, but not those of mails within it."""
    yield message
    if message.get_content_maintype() == "multipart":
        for part in _parts(message):
            yield from _all_parts(part)
