"""Mails whose text is encoded oddly, or is damaged: what somebody wrote is read as a whole, or refused as a whole."""

import base64
import time
from pathlib import Path
from random import Random

import pytest

from pbm.access import tokens
from pbm.mail import incoming
from pbm.mail.reading import read

from helpers.database import stored_board
from helpers.examples import IS_QUICK
from helpers.mail import ADDRESS, handle

ALICE = "alice@players.example"
LONG = "e5\n\nGood luck, and see you on Friday at the club. Thank you for your last move!\n"
PNG = base64.b64encode(bytes(60)).decode()


def written(text, kind="text/plain; charset=utf-8", encoding="8bit", above="", subject="Re: Symple Board 101 alice"):
    """The bytes of a mail of alice; *above* stands above its header."""
    raw = text if isinstance(text, bytes) else text.encode()
    head = f"{above}From: {ALICE}\nSubject: {subject}\nContent-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\n"
    return head.encode() + raw


def body(*words, **more):
    return read(written(*words, **more), None).body


def multipart(*parts, kind="multipart/mixed; boundary=x"):
    """A body of parts, each with its header; and its type."""
    boundary = kind.partition("boundary=")[2]
    return "".join(f"--{boundary}\n{part}\n" for part in parts) + f"--{boundary}--\n", kind


def answered(club, raw, recipient=None):
    """The turns of board 101 behind that mail to alice's reply address, and the answers to her."""
    with club.store.writing():
        recipient = recipient or tokens.reply_address(club.server, "symple", "101", "alice")
    before = len(club.mails())
    handle(club.server, raw, ALICE, [recipient])
    turns = [turn.text for turn in stored_board(club.store, "symple", "101").turns]
    return turns, [mail.text for mail in club.mails()[before:] if mail.address == ALICE and mail.userid is None]


def assert_refused(club, raw, *words):
    turns, [answer] = answered(club, raw)
    assert turns == []
    assert all(word in " ".join(answer.split()) for word in words)


# base64 and quoted-printable


@pytest.mark.parametrize(
    ("end", "front"),
    [
        ("\r\r\n", ""), ("\n\n", ""), ("\r\n\r\n", ""), ("\n   \n", ""), ("\n\t\n", ""), (" \n", ""), ("\n", " "),
        ("\n!\n", ""), ("\n*\n", ""), ("\n--\n", ""), ("\n=\n", ""), ("=\n", ""), ("\n", "> "), ("\n\0\n", ""),
        ("\x0b", ""), ("\r", ""), ("\n\u00e9\n", ""), ("!", ""),
    ],
)  # fmt: skip
def test_what_is_no_letter_of_base64_between_its_lines_is_ignored(end, front):
    lines = base64.encodebytes(LONG.encode()).decode().split()
    text = end.join(f"{front}{line}" for line in lines)
    assert len(lines) == 2
    assert body(text, encoding="base64") == LONG.strip()


@pytest.mark.parametrize("width", [1, 3, 4, 5, 7, 64, 200])
@pytest.mark.parametrize("end", ["\n", "\r\r\n", " ", "\n\n", ".\n"])
def test_lines_of_base64_have_any_length(width, end):
    letters = base64.b64encode(LONG.encode()).decode()
    text = end.join(letters[at : at + width] for at in range(0, len(letters), width))
    assert body(text, encoding="base64") == LONG.strip()


def test_base64_that_was_encoded_in_pieces_is_one_text():
    pieces = (base64.b64encode(piece.encode()).decode() for piece in ("e5\nGood ", "luck, ", "bob\n"))
    assert body("\n".join(pieces), encoding="base64") == "e5\nGood luck, bob"


DAMAGED = [
    "azEwC",  # k10, and a letter of the next byte
    "azEwCkhlbGxvI\n\n",
    "!!!! not base64 at all ****",
    "c3\n\nGood luck\n",
    "azE",  # k1 or the beginning of k10
    f"{base64.b64encode(LONG.encode()).decode()[:75]}\n!!!! lost !!!!\n{base64.b64encode(LONG.encode()).decode()[75:]}",
]


@pytest.mark.parametrize("encoded", DAMAGED)
def test_base64_that_does_not_decode_is_refused_as_a_whole(board, encoded):
    assert_refused(board, written(encoded, encoding="base64"), "Nothing was done", "base64 cannot be decoded")


def test_a_command_in_the_subject_is_refused_if_the_text_does_not_decode(board):
    subject = "symple move 101 alice alice-secret c3"
    raw = written(DAMAGED[1], encoding="base64", subject=subject)
    turns, [answer] = answered(board, raw, ADDRESS)
    assert turns == []
    assert "Nothing was done" in answer
    assert "alice-secret" not in answer


def test_a_part_that_is_not_shown_may_be_damaged():
    plain, file = "Content-Type: text/plain\n\ne5\n", "Content-Disposition: attachment\n"
    html = "Content-Type: text/html\n"
    broken = f"Content-Transfer-Encoding: base64\n\n{DAMAGED[0]}\n"
    assert body(*multipart(plain, f"{file}{broken}")) == "e5"
    assert body(*multipart(plain, f"{html}{broken}", kind="multipart/alternative; boundary=x")) == "e5"


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        ("k1=\n0", "k10"),
        ("k1=\r\r\n0", "k10"),
        ("k1= \t\n0", "k10"),
        ("k1=\r0", "k10"),
        ("e5\nk1=3=\n0", "e5\nk1=30"),
        ("e5\n=47=6f=6Fd", "e5\nGood"),
        ("e5\nHi =)\na=b", "e5\nHi =)\na=b"),
        ("e5=", "e5"),
        ("e5\n-- \nAlice", "e5"),
    ],
)
def test_quoted_printable_is_joined_where_a_line_goes_on_and_a_sign_without_a_code_stays(encoded, text):
    assert body(encoded, encoding="quoted-printable") == text


@pytest.mark.parametrize("line", ["e5=ZZ", "e5=\n=x", "e=5", "=e5=Z", "=zze5", "e=3=\n5"])
def test_a_first_line_with_a_broken_code_is_refused(board, line):
    raw = written(f"{line}\n\nHello", encoding="quoted-printable")
    assert_refused(board, raw, "Nothing was done", "characters that cannot be decoded")


@pytest.mark.parametrize(
    "name", ["base64;", "Base-64", '"base64"', "base 64", "x-base64", "b64", "base64, 8bit", "(as) base64 (ever)"]
)
def test_base64_is_known_however_it_is_spelt(name):
    assert body("ZTUKSGk=", encoding=name) == "e5\nHi"


@pytest.mark.parametrize(
    "name",
    [
        "quoted printable",
        "quoted_printable",
        "QuotedPrintable",
        "quoted-printable;",
        "QP",
        "quoted-print",
        "'quoted-printable'",
    ],
)
def test_quoted_printable_is_known_however_it_is_spelt(name):
    assert body("e=\n5\n=48i", encoding=name) == "e5\nHi"


# Charsets


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii", "iso-2022-jp", "", "x-unknown"])
@pytest.mark.parametrize("line", [b"e5\xff", b"e\xad5", b"\x81e5", b"e5\xa0"])
def test_a_first_line_that_its_charset_cannot_decode_is_refused(board, charset, line):
    raw = written(line + b"\n\nHello\n", f"text/plain; charset={charset}")
    assert_refused(board, raw, "Nothing was done", "characters that cannot be decoded")


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii", "", "x-unknown"])
def test_a_comment_that_its_charset_cannot_decode_is_read_as_windows_writes_it(board, charset):
    raw = written("e5\n\nGrüße – “bon”\n".encode("cp1252"), f"text/plain; charset={charset}")
    assert answered(board, raw)[0] == ["e5"]
    assert stored_board(board.store, "symple", "101").row.comment == "Grüße – “bon”"


def test_several_commands_are_refused_if_one_of_them_cannot_be_decoded(board):
    raw = written(b"symple show 101\nsymple move 101 alice alice-secret e\xad5\n", subject="multiple")
    turns, [answer] = answered(board, raw, ADDRESS)
    assert turns == []
    assert "characters that cannot be decoded" in " ".join(answer.split())


def test_a_subject_that_its_charset_cannot_decode_is_no_command(board):
    raw = written("Hello", subject="symple move 101 alice alice-secret =?utf-8?Q?e=AD5?=")
    turns, [answer] = answered(board, raw, ADDRESS)
    assert turns == []
    assert "characters that cannot be decoded" in " ".join(answer.split())


@pytest.mark.parametrize(
    ("names", "codec", "text"),
    [
        ("windows-31j csWindows31J x-sjis Shift-JIS ms932 x-ms-cp932 cp-932", "cp932", "よろしく ①"),
        ("x-gbk GB_2312-80 cn-gb csGB2312 windows-936 cp54936 x-cp20936", "gb18030", "你好，祝好运"),
        ("big5 cn-big5 x-x-big5 windows-950", "cp950", "你好，祝好運"),
        ("ks_c_5601-1987 windows-949 x-windows-949 ISO-IR-149 x-mac-korean", "cp949", "안녕하세요 똠"),
        ("x-euc-jp eucJP-ms cp51932", "euc_jp", "よろしく"),
        ("csISO2022JP cp50220 cp50221 cp50222 iso-2022-jp-ms jis", "iso2022_jp", "よろしく"),
        ("iso-8859-8-i ISO-8859-8-E csISO88598I logical visual", "iso8859_8", "שלום"),
        ("windows-874 dos-874 tis-620 iso-8859-11 x-windows-874", "cp874", "สวัสดี"),
        ("cp-1251 win-1251 windows1251 x-cp1251 microsoft-cp1251", "cp1251", "Привет"),
        ("dos-866 ibm-866 cp_866 csIBM866", "cp866", "Привет"),
        ("koi8 koi KOI8-RU x-koi8-r cp20866", "koi8_r", "Привет"),
        ("x-mac-cyrillic x-mac-ukrainian cp10007", "mac_cyrillic", "Привет"),
        ("x-mac-roman mac macintosh cp10000", "mac_roman", "Grüße"),
        ("x-mac-ce x-mac-centraleurroman cp10029", "mac_latin2", "Dzięki"),
        ("iso-88592 iso8859-2 8859-2 latin-2 x-iso-8859-2 cp28592", "iso8859_2", "Dzięki"),
        ("cp-850 ibm-850 dos-850 x-cp850", "cp850", "Grüße"),
        ("unicode-1-1-utf-7 utf-7 csUnicode11UTF7 cp65000", "utf_7", "Grüße"),
        ("unicode-1-1-utf-8 utf_8 utf 8 x-unicode20utf8 UTF8MB4 cp65001", "utf_8", "Grüße"),
        ("unicode ucs-2 iso-10646-ucs-2 cp1200", "utf_16_le", "Grüße"),
        ("unicodeFFFE cp1201", "utf_16_be", "Grüße"),
        ("ISO-8859-1-Windows-3.1-Latin-1 windows-1252 cp-1252 iso8859_1 latin-1", "cp1252", "“Grüße” – 3 €"),
        ("iso-8859-9 latin5 windows-1254 x-cp1254", "cp1254", "“Günaydın”"),
    ],
)
def test_a_charset_is_known_by_the_names_that_mail_programs_give_it(names, codec, text):
    for name in names.replace("utf 8", "utf%208").split():
        kind = f'text/plain; charset="{name.replace("%20", " ")}"'
        assert body(f"e5\n{text}\n".encode(codec), kind) == f"e5\n{text}", name


# What a mail consists of


TEXT, PICTURE = "Content-Type: text/plain\n\n", f"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n{PNG}\n"
HTML = "Content-Type: text/html\n\n"


def nested(kind, *parts):
    text, _ = multipart(*parts, kind=f"multipart/{kind}; boundary={kind}")
    return f"Content-Type: multipart/{kind}; boundary={kind}\n\n{text}"


@pytest.mark.parametrize("blank", ["Cg==", "ICAK"])
def test_an_encoded_text_that_is_blank_says_nothing_also_in_front_of_a_file_that_is_shown(blank):
    encoded = f"{TEXT.rstrip()}\nContent-Transfer-Encoding: base64\n\n{blank}"
    file = f"{TEXT.rstrip()}; name=move.txt\nContent-Disposition: inline\n\ne5"
    assert body(blank, encoding="base64").strip() == ""
    assert body(*multipart(encoded, file)).strip() == "e5"


def test_several_texts_are_one_text_also_around_a_picture():
    assert body(*multipart(f"{TEXT}e5\n\nThis is our cat.", PICTURE, f"{TEXT}She says hello.")) == (
        "e5\n\nThis is our cat.\nShe says hello."
    )
    assert body(*multipart(f"{TEXT}e5", f"{TEXT}one", f"{HTML}<p>two</p>", f"{TEXT}three")) == "e5\none\ntwo\nthree"
    assert body(*multipart(PICTURE, f"{TEXT}", f"{TEXT}e5", PICTURE)) == "e5"


@pytest.mark.parametrize("kind", ["mixed", "related", "signed", "parallel", "x-unknown"])
def test_texts_within_parts_of_parts_are_one_text(kind):
    inner = nested(kind, f"{TEXT}e5", PICTURE, f"{TEXT}one")
    assert body(*multipart(inner, PICTURE, f"{TEXT}two")) == "e5\none\ntwo"


def test_of_alternatives_one_is_read_plain_text_before_html_before_what_is_unknown():
    def read_of(*parts):
        return body(*multipart(*parts, kind="multipart/alternative; boundary=x"))

    html = nested("mixed", f"{HTML}<p>e5</p>", PICTURE, f"{HTML}<p>one</p>")
    assert read_of(f"{TEXT}c3", html) == "c3"
    assert read_of(html, f"{TEXT}c3") == "c3"
    assert read_of(f"{TEXT}", html) == "e5\none"
    assert read_of("Content-Type: text/markdown\n\n*c3*", f"{HTML}e5") == "e5"
    assert read_of("Content-Type: text/x-amp-html\n\nc3", "Content-Type: text/calendar\n\nd4", f"{HTML}e5") == "e5"
    both = nested("alternative", f"{TEXT}one", f"{HTML}<p>two</p>")
    assert body(*multipart(f"{TEXT}e5", PICTURE, both)) == "e5\none"


@pytest.mark.parametrize(
    "file",
    [
        "Content-Type: text/plain\nContent-Disposition: attachment\n\nd4",
        "Content-Type: text/plain; name=a.txt\n\nd4",
        "Content-Type: text/plain\nContent-Disposition: inline; filename=a.txt\n\nd4",
        "Content-Type: text/html\nContent-Disposition: attachment; filename=a.html\n\nd4",
        "Content-Type: text/calendar\n\nBEGIN:VCALENDAR",
        "Content-Type: text/x-vcard\n\nBEGIN:VCARD",
        "Content-Type: text/css\n\np { color: red }",
        "Content-Type: message/rfc822\n\nSubject: x\n\nd4",
        "Content-Type: application/pgp-signature\n\n-----BEGIN",
    ],
)
def test_what_is_no_text_of_the_mail_stays_out(file):
    assert body(*multipart(f"{TEXT}e5", file, f"{TEXT}Hello")) == "e5\nHello"
    assert body(*multipart(file, f"{TEXT}e5")) == "e5"


@pytest.mark.parametrize(
    "kind",
    ["text/markdown", "text/x-markdown; charset=utf-8", "text/x-anything", "text/enriched", "text/", "text", "plain",
     "plain/text", "TEXT / PLAIN", "text/plain charset=utf-8", '"text/plain"', "text/plain;;", "application/text",
     "application/plain", "text/plain, charset=utf-8", "", "; charset=utf-8", "text/x.y+json"],
)  # fmt: skip
def test_a_text_of_an_unknown_kind_is_shown_as_it_is(kind):
    assert body("e5\n\n1 < 2\n", kind) == "e5\n\n1 < 2"


@pytest.mark.parametrize(
    "kind", ["html/text", "TEXT/HTML", "text / html", "application/xhtml+xml", "text/html charset=utf-8"]
)
def test_html_is_known_however_its_kind_is_spelt(kind):
    assert body("<p>e5</p><p>Hi</p>", kind) == "e5\nHi"


POSTMARK = "From alice@players.example Fri Nov 20 09:15:00 2026\n"


@pytest.mark.parametrize(
    "above",
    [f">{POSTMARK}", POSTMARK, f">>{POSTMARK}", "\n", "\r\n\r\n", " \n", f"\n>{POSTMARK}", f">{POSTMARK}\n",
     f"{POSTMARK}>{POSTMARK}", "\ufeff\n", f"Received: by x\n>{POSTMARK}", f"Received: by x\n{POSTMARK}"],
)  # fmt: skip
def test_a_header_is_read_below_what_mailboxes_put_above_it(above):
    raw = written("e5\n", above=above)
    assert (read(raw, None).sender, read(raw, None).body) == (ALICE, "e5")
    delivered = f"{above}Delivered-To: pbm@pbm.example\nReturn-Path: <{ALICE}>\n\n".encode()
    assert incoming.envelope(delivered, {}) == (ALICE, "pbm@pbm.example")
    assert incoming.addressed(delivered, ADDRESS) == ["pbm@pbm.example"]


def test_an_empty_line_below_what_was_put_above_a_header_on_its_way_does_not_end_it():
    raw = written("e5\n", above="Received: by x\n\twith y\nDelivered-To: pbm@pbm.example\n\nDate: today\n")
    assert (read(raw, None).sender, read(raw, None).body) == (ALICE, "e5")
    assert incoming.addressed(raw, ADDRESS) == ["pbm@pbm.example"]


def test_what_looks_like_a_line_above_a_header_is_a_header_or_a_text():
    assert read(f"From : {ALICE}\n\ne5\n".encode(), None).sender == ALICE
    assert read(f"Received: by x\n\nNote: from {ALICE}\n".encode(), None).body == f"Note: from {ALICE}"
    assert read(f"From: {ALICE}\n\nFrom here I see the sea.\n".encode(), None).body == "From here I see the sea."


def test_a_mail_whose_lines_all_end_twice_is_read():
    mail = read(written("e5\n\nHello\n").replace(b"\n", b"\r\r\n"), None)
    assert (mail.sender, mail.body) == (ALICE, "e5\n\nHello")


# Headers that contradict themselves


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/mixed charset*0*=a; charset*=utf-8''x",
        "multipart/mixed; boundary*0=x; boundary*=y",
        "multipart/mixed; boundary*1=x; boundary*=y; boundary*0*=utf-8''z",
    ],
)
def test_a_mail_that_python_cannot_take_apart_is_refused_at_once_and_for_good(board, kind):
    raw = written("e5\n\nÄh\n", kind)
    assert_refused(board, raw, "Nothing was done", "its header contradicts itself")
    assert answered(board, raw) == ([], [])  # the same mail again


@pytest.mark.parametrize("parameter", ["charset*0*=a; charset*=utf-8''x", "charset*=us-ascii'en'utf-8", "name*0=a; x*"])
def test_a_text_is_read_though_the_pieces_of_a_parameter_do_not_fit_together(parameter):
    assert body("e5\n\nÄh\n", f"text/plain; {parameter}") == "e5\n\nÄh"


FOLDER = Path(__file__).with_name("mails")
NAMES = "charset name boundary format filename delsp x".split()
PIECES = ["", "*", "*0", "*0*", "*1", "*1*", "*x", "*00*", "*-1*", "*99999999999999999999*"]
VALUES = [
    "a",
    "utf-8''x",
    "utf-8'%E9",
    "''",
    '"a',
    "'",
    "é",
    "idna''x%E9",
    "zlib'' ",
    "=?utf-8?q?a?=",
    '""',
    ";",
    "(",
    "b; b",
]
FIELDS = """
    Content-Type: text/plain|Content-Type: multipart/mixed|Content-Type: multipart/alternative|Content-Type: text/html
    |Content-Type: message/rfc822|Content-Type: message/delivery-status|Content-Type: text/rfc822-headers
    |Content-Disposition: inline|Content-Disposition: attachment|Content-Transfer-Encoding: base64
    |Content-Transfer-Encoding: quoted-printable|Content-Transfer-Encoding: x-uuencode|From: a|To:|Return-Path: <
    |Subject: =?utf-8?b?|Delivered-To: "
"""
MUTANTS = 500 if IS_QUICK else 20_000


def mutant(mails, rng):
    """A mail with an odd field or two, in which something is lost, changed or doubled."""
    raw = rng.choice(mails)
    for _ in range(rng.randrange(1, 4)):
        begin, end = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
        kind = rng.choice(["field", "field", "field", "change", "lose", "double"])
        if kind == "field":
            names = rng.choices(NAMES, k=2) * 2
            parameters = "".join(f"; {name}{rng.choice(PIECES)}={rng.choice(VALUES)}" for name in names)
            field = f"{rng.choice(FIELDS.split('|')).strip()}{parameters}\n".encode("latin-1")
            at = raw.find(b"\n", begin) + 1 if rng.randrange(2) else 0
            raw = raw[:at] + field + raw[at:]
        elif kind == "change":
            raw = raw[:begin] + rng.randbytes(1) + raw[begin + 1 :]
        elif kind == "lose":
            raw = raw[:begin] + raw[min(end, begin + 80) :]
        else:
            raw = raw[:end] + raw[begin:end][:2000] + raw[end:]
    return raw


def test_whatever_a_mail_consists_of_it_is_read_and_what_is_read_can_be_stored():
    mails = [path.read_bytes()[:4000] for path in sorted(FOLDER.glob("*.eml"))]
    rng = Random(40)
    for _ in range(MUTANTS):
        raw = mutant(mails, rng)
        mail = read(raw, None)
        stored = [mail.subject, mail.body, mail.quoted, mail.message_id, mail.sender or "", *mail.doubtful]
        assert "\n".join(stored).encode()
        assert incoming.envelope(raw, {})
        assert incoming.addressed(raw, ADDRESS) is not None


@pytest.mark.parametrize(
    "text",
    [b"=\n" * 300_000, b"=4" * 300_000, b" \t" * 400_000, b"a b\n" * 200_000, b"abc=" * 200_000, b"abcd!\n" * 150_000,
     b"\r" * 900_000, b"\r\r\n" * 300_000, b"\xff" * 900_000, b">" * 900_000, b"From x\n" * 120_000,
     b"<style>" + b"{" * 290_000, b"<xmp" * 70_000, b"<b style='white-space:pre'>" * 11_000, b"<pre>" * 60_000],
    ids=range(15),
)  # fmt: skip
@pytest.mark.long
def test_a_megabyte_that_is_hard_to_decode_is_no_work(text):
    begin = time.process_time()
    for encoding, kind in (("base64", "text/plain"), ("quoted-printable", "text/plain"), ("8bit", "text/html")):
        read(text, None)
        read(written(text, kind, encoding), None)
    assert time.process_time() - begin < 30
