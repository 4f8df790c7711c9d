"""Mails that are made to take long: ten times the text may take fifteen times the time, not a hundred times.

What hurts a pattern or a loop are long runs of what it looks for, nested and without an end. So each part of a mail
that somebody else writes is filled with runs of each character that stands in a pattern of ours, of all pairs of them,
and of what mail programs, HTML and our own language put together from them. The quick run tries each text in one
place, the run of all tries each in all places.
"""

import ast
import email
import time
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest

import pbm
from pbm.access import tokens
from pbm.budget import SECONDS_OF_MAIL
from pbm.mail.reading import read

from helpers.examples import IS_QUICK, IS_RANDOM
from helpers.mail import ADDRESS, handle

ROOM = Path(pbm.__file__).parent
READERS = [
    *(ROOM / "mail" / f"{name}.py" for name in "reading quotes own_mails unhtml automatic typed incoming".split()),
    *sorted((ROOM / "language").glob("*.py")),
    ROOM / "letters" / "headings.py",  # of whose texts `own_mails` makes patterns
    ROOM / "texts.py",
    *(Path(email.__file__).parent / f"{name}.py" for name in "_parseaddr feedparser header message utils".split()),
]
"""The modules that read what a stranger has written."""
SMALL, LARGE = 20_000, 200_000
FACTOR = 15
FLOOR = 0.25
"""Seconds of computing below which nothing is too slow, so that no noise counts."""
PIECES_APART = 1 if IS_RANDOM else 6
"""With --all, one in so many pieces is tried, others in each place. Neighbours in the lists are alike, so that one of
any six is tried everywhere, and each piece in four places: most of these read a text in the same way."""
PAIRS_APART = 17
"""One in so many pairs of characters is tried, others in each place."""
SHORT_FIELD = 4900
"""How long a field may be that describes a part; a mail with a longer one is not taken apart."""

# fmt: off
WRITTEN = (
    # fields of a header
    *("(\\(", "((", "()", "<>", '\\"', '"a" <a@b>, ', "<a@b>,", "a:b;", "a@", "a.", "a: b\n", "X-a: b\n c\n"),
    *("=?utf-8?q?a?= ", "=?utf-8?b?", "=?a?q?", "?=", "a=b;", "a*0=b;", "a*0*=utf-8''%41;", 'a="', "Received: x\n y\n"),
    # encoded texts, parts and reports
    *("=C3", "=\n", "=20\n", "%20", "&nbsp;", "&#x", "%25%20", "Ωé\u3000", "\u200b", "action: failed\n\n"),
    *("\n--x\n", "--x--\n", "Content-Type: text/plain\n\n--x\n", "Content-Type: message/rfc822\n\n"),
    *("Content-Type: multipart/mixed; boundary=x\n\n--x\n",),
    # mails that are answered, and signatures
    *("on 1 2020 a@b wrote:\n", "on 1 2020 a@b wrote:\n>\n", "a@b wrote:\n\n\n", "a:  ", ">>>", "from: a\nto: b\n"),
    *(">>> a@b 2020 10:11\n>", "----- x:", "Sent from my x\nhttp://x\n", "-- \n", "--\n"),
    "-----BEGIN PGP SIGNED MESSAGE-----\n",
    *("x\nhttps://x\n", "_____\n", "> a\n\nb\n", ">\n\n", "this mail from ", "[EXTERNAL]\n", "a@b:\n", "\u200b-"),
    *("در ۱۲:۰۰ نوشت:\n>\n", "wrote:\n>\n", "on 1 "),
    # commands and moves
    *("re:", "re: ", "aw:[x]", "** ", "-a ", "-a1 ", " , ", "x e3 ", "e3,", "e3-e4-", "x\na1\n", "-a1\n", "a\n,"),
    *("+e3", "e3:5", "password: ", "password alice ", "spiro move 101 alice ", "101 alice secret9x\n", "secret9x "),
    *("secret9x,", "# \n", "multiple\n", "help\n", "spiro games\n", "spiro show 101\n", "spiro "),
    # HTML
    *("<b>", "</b>", "<!--", "-->", "<script>", "</script", '<a b="', "<pre>", "<td>", "<div hidden>", "<blockquote>"),
    *("<a ", "</", "<![", "<!", "<?", "<p", "<div>", '<a b=">', "<style>"),
)
"""What patterns and loops look for, put together."""
NUMBERED = (
    *("secret9%d ", "secret9%d\n", "user%d 101 secret%dX\n", "spiro move 10%d alice secret%dX e3\n", "word: s%dXy\n"),
    *("<a%d@b.example>, ", "X-a%d: b\n", "-a%d=b ", "e%d,", "--x%d\n", "a%d=x; ", "<b%d>", "</b%d>", "&#%d;"),
    *("on %d 2020:\n",),
)
"""The same with a number, so that no two are equal."""
# fmt: on


@cache
def characters() -> list[str]:
    """All that stands in the texts of the modules that read, but of letters and digits one of each kind."""
    found = {"a", "A", "1", "中", "\0", "\r"}
    for path in READERS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
                found |= {sign for sign in text if not sign.isalnum()}
    return sorted(found)


def text_of(piece: str, size: int) -> bytes:
    """A text of so many bytes."""
    if "%d" in piece:
        count, size_of_one = piece.count("%d"), len(piece) + 3
        return "".join(piece % ((number,) * count) for number in range(1000, 1000 + size // size_of_one)).encode()
    one = piece.encode()
    return one * (size // len(one)) + b" b"


ALICE = b"From: alice@players.example\r\n"
HELP = b"Subject: help\r\n"
FIELDS = (
    b"From Subject To Cc Reply-To Sender Delivered-To Return-Path Precedence Auto-Submitted Message-ID References Date "
    b"X-Auto-Response-Suppress List-Unsubscribe Received X-Other"
).split()
OF_PARTS = b"Content-Type Content-Disposition Content-Transfer-Encoding MIME-Version".split()


def folded(text: bytes) -> bytes:
    """A text as a field of a header has it."""
    return text.replace(b"\n", b"\r\n ")


def fields(text: bytes) -> bytes:
    """A mail of which each field is as long as all of it may be for one to count."""
    share = folded(text[: len(text) // 10])
    described = b"".join(name + b": text/plain; x=" + share[:SHORT_FIELD] + b"\r\n" for name in OF_PARTS)
    return b"".join(name + b": " + share + b"\r\n" for name in FIELDS) + described + b"\r\nhi\r\n"


def many_fields(text: bytes) -> bytes:
    """A mail with the same fields again and again."""
    share = folded(text[:40])
    each = b"".join(name + b": " + share + b"\r\n" for name in FIELDS)
    return each * max(1, len(text) // len(each)) + b"\r\nhi\r\n"


def with_text(subject: bytes, front: bytes = b"", kind: bytes = b"text/plain; charset=utf-8", more: bytes = b""):
    """What makes a mail with a text of that *kind*, which begins with what stands in *front*."""
    header = ALICE + b"Subject: " + subject + b"\r\nContent-Type: " + kind + b"\r\n" + more + b"\r\n"
    return lambda text: header + front + text


def sent_with(encoding: bytes):
    return with_text(b"hello", more=b"Content-Transfer-Encoding: " + encoding + b"\r\n")


PLACES = {
    "a subject": lambda text: ALICE + b"Subject: " + folded(text) + b"\r\n\r\nhi\r\n",
    "all fields": fields,
    "all fields again and again": many_fields,
    "a header": lambda text: ALICE + HELP + text + b"\r\n\r\nhi\r\n",
    "in front of the header": lambda text: text + b"\r\n" + ALICE + HELP + b"\r\nhi\r\n",
    "the name of a file": lambda text: (
        ALICE + HELP + b'Content-Type: text/plain; name="' + folded(text)[:SHORT_FIELD] + b"\r\n\r\n" + text
    ),
    "a text": with_text(b"hello"),
    "a text below a command": with_text(b"spiro challenge alice bob"),
    "a text below a wrong command": with_text(b"spiro move 101 alice wrong-secret e3"),
    "a move": with_text(b"hello", b"spiro move 101 alice alice-secret "),
    "moves": with_text(b"hello", b"spiro preview 101 "),
    "several commands": with_text(b"multiple"),
    "moves in several commands": with_text(b"multiple", b"spiro preview 101 "),
    "an answer": with_text(b"Re: Spiro Board 101 alice"),
    "an answer with a plan": with_text(b"Re: Spiro Board 101 alice", b"4\nif c3 "),
    "an answer with moves": with_text(b"Re: Spiro Board 101 alice", b"preview "),
    "a text in HTML": with_text(b"hello", kind=b"text/html; charset=utf-8"),
    "a flowed text": with_text(b"hello", kind=b"text/plain; format=flowed; delsp=yes"),
    "a text in UTF-7": with_text(b"hello", kind=b"text/plain; charset=utf-7"),
    "quoted-printable": sent_with(b"quoted-printable"),
    "base64": sent_with(b"base64"),
    "uuencode": with_text(b"hello", b"begin 666 x\n", more=b"Content-Transfer-Encoding: x-uuencode\r\n"),
    "parts": with_text(b"hello", b"--x\r\n", kind=b"multipart/mixed; boundary=x"),
    "a report": lambda text: (
        b"From: mailer-daemon@x.example\r\nContent-Type: multipart/report; boundary=x\r\n\r\n"
        b"--x\r\nContent-Type: message/delivery-status\r\n\r\n" + text[: len(text) // 2] + b"\r\n"
        b"--x\r\nContent-Type: text/rfc822-headers\r\n\r\n" + text[: len(text) // 2]
    ),
}  # fmt: skip
"""Where in a mail a text may stand, and how that mail is made."""


def seconds(club, place: str, piece: str, size: int, number: int = 0) -> float:
    """What it takes to handle a mail with such a text, the first or a further one."""
    recipient = ADDRESS
    if place.startswith("an answer"):
        recipient = tokens.reply_address(club.server, "spiro", "101", "alice")
    club.pass_time(days=1)  # so that all mistakes are answered
    raw = PLACES[place](text_of(piece, size)) + b"\n" * number  # for none is handled twice
    begin = time.process_time()
    handle(club.server, raw, "alice@players.example", [recipient])
    return time.process_time() - begin


def is_too_slow(club, place: str, piece: str) -> bool:
    """Whether a text that is ten times as long takes more than fifteen times as long to be handled.

    The least of three times counts, so that the long text is tried again only as long as it is too slow.
    """
    first = seconds(club, place, piece, LARGE)
    if first <= FLOOR:
        return False
    bound = max(FLOOR, FACTOR * min(seconds(club, place, piece, SMALL, number) for number in range(3)))
    return first > bound and all(seconds(club, place, piece, LARGE, number) > bound for number in (1, 2))


@pytest.mark.parametrize("place", PLACES)
def test_ten_times_the_text_takes_no_more_than_fifteen_times_as_long(pair, place):
    texts = [*WRITTEN, *NUMBERED, *characters()]
    apart = len(PLACES) if IS_QUICK else PIECES_APART
    tried = texts[[*PLACES].index(place) % apart :: apart]
    assert [piece for piece in tried if is_too_slow(pair, place, piece)] == []


@pytest.mark.long
@pytest.mark.parametrize(
    "place", ["all fields", "a header", "a text", "a text in HTML", "an answer", "several commands"]
)
def test_ten_times_two_characters_take_no_more_than_fifteen_times_as_long(pair, place):
    pairs = [*map("".join, permutations("a1 \n\t\\\"'()<>[],;:@=?*&%-_.", 2))]
    tried = pairs[[*PLACES].index(place) % PAIRS_APART :: PAIRS_APART]  # all of them take half an hour
    assert [piece for piece in tried if is_too_slow(pair, place, piece)] == []


ANSWER = ALICE + b"Subject: Re: Spiro Board 101 alice\r\n\r\n"
MAILS = {
    "a body of quotations": ALICE + HELP + b"\r\n" + b">\n\n" * 33_000,
    "names without an end": (b'From: "' + b'\\"' * 10_000 + b"\r\n") * 10 + b"\r\n",
    "comments without an end": ALICE + (b"Precedence: (" + b"\\(" * 10_000 + b"\r\n") * 10 + b"\r\n",
    "an answer with many blanks": ANSWER + b"a" + b" " * 90_000 + b"b",
    "a plan with many blanks": ANSWER + b"4\nif c3" + b" " * 90_000 + b"d4",
    "a plan in many lines": ANSWER + b"4\nif c3 then d4,\n" + b"e5,\n" * 20_000,
    "a plan with many words": ANSWER + b"4\nif foo " + b"then " * 18_000,
    "a plan with many quotes": ANSWER + b"4\nif c3 " + b"a'" * 45_000,
    "a plan with many readings": ANSWER + b"4\nif " + b"c3," * 30_000,
}
"""Each of them has taken more than two seconds."""


@pytest.mark.parametrize("raw", MAILS.values(), ids=MAILS)
def test_a_mail_that_once_stopped_all_others_is_handled_at_once(pair, raw):
    recipient = tokens.reply_address(pair.server, "spiro", "101", "alice") if b"Re: " in raw else ADDRESS
    begin = time.process_time()
    handle(pair.server, raw, "alice@players.example", [recipient])
    assert time.process_time() - begin < SECONDS_OF_MAIL


def test_all_that_hurts_in_one_mail_is_read_within_the_time_of_a_mail():
    header = (b'From: "' + b'\\"' * 10_000 + b"\r\n") * 10 + (b"Precedence: (" + b"\\(" * 10_000 + b"\r\n") * 10
    begin = time.process_time()
    read(header + b"\r\n" + b">\n\n" * 33_000, "alice@players.example")
    assert time.process_time() - begin < SECONDS_OF_MAIL
