"""Reading mails: raw bytes in, what counts of them out."""

import time
from textwrap import wrap

import pytest

from pbm.mail import automatic, quotes
from pbm.mail.reading import read
from pbm.mail.typed import plain_word, words_of
from pbm.mail.unhtml import to_text

QUOTE = "> New: Symple board 101\n> a board\n"
ORIGINAL = "New: Symple board 101\na board\n"


def body(text, kind="text/plain; charset=utf-8", encoding="8bit"):
    raw = text if isinstance(text, bytes) else text.encode()
    head = f"From: a@b.example\nContent-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\n"
    return read(head.encode() + raw, None).body


def subject(text):
    raw = text if isinstance(text, bytes) else text.encode("latin-1")
    return read(b"From: a@b.example\nSubject: " + raw + b"\n\n", None).subject


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?utf-8?B?w?= =?utf-8?B?6Q==?=", "=?utf-8?B?w?= =?utf-8?B?6Q==?="),
        ("=?utf-8?Q?=C3?= =?utf-8?Q?=A9?=", "é"),
        ("=?utf-8?B?ww==?=\n =?utf-8?Q?=A9?=", "é"),
        ("move =?iso-8859-1?q?a_b?= c\n =?UTF-8?B?YzM=?=", "move a b c c3"),
        ("=?utf-8*en?Q?spiro?= games", "spiro games"),
        ("=?nonsense?Q?spiro?=", "spiro"),
        ("=?zlib?Q?spiro?=", "spiro"),
        ("=?idna?Q?spiro?=", "spiro"),
        ("=?us-ascii?Q?Gr=FC=DFe?=", "Grüße"),
        (b"Gr\xc3\xbc\xc3\x9fe", "Grüße"),
        (b"Gr\xfc\xdfe", "Grüße"),
        ("a\n\tb\n  c", "a b c"),
        ("a =?utf-8?Q?=0D=0ABcc:_x?=", "a Bcc: x"),
    ],
)
def test_a_subject_is_one_line_of_text_however_it_is_encoded(written, meant):
    assert subject(written) == meant


@pytest.mark.parametrize(
    ("raw", "charset", "text"),
    [
        ("Grüße".encode(), "utf-8", "Grüße"),
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        ("Grüße".encode("latin-1"), "utf-8", "Grüße"),
        ("Grüße".encode(), "us-ascii", "Grüße"),
        ("Grüße".encode(), "nonsense", "Grüße"),
        ("Grüße".encode(), "punycode", "Grüße"),
        ("Grüße".encode(), "unicode_escape", "Grüße"),
        ("Grüße".encode(), "ansi", "Grüße"),
        ("Grüße".encode("cp1252"), "ansi", "Grüße"),
        ("Grüße".encode("cp1252"), "mbcs", "Grüße"),
        ("Grüße".encode("cp1252"), "x-unknown", "Grüße"),
        ("Grüße".encode("cp1252"), "oem", "Grüße"),
        (b"symple show 101", "utf-16", "symple show 101"),
        (b"symple show 101", "cp037", "symple show 101"),
        ("symple show 101".encode("utf-16"), "utf-16", "symple show 101"),
        ("“x” – €".encode("cp1252"), "iso-8859-1", "“x” – €"),
        ("你好".encode("gb18030"), "gb2312", "你好"),
        ("こんにちは".encode("iso2022_jp"), "iso-2022-jp", "こんにちは"),
        ("Привет".encode("koi8-r"), "koi8-r", "Привет"),
    ],
)
def test_a_body_is_read_in_its_charset_or_in_what_it_must_be(raw, charset, text):
    assert body(raw, f"text/plain; charset={charset}") == text


ALICE = "alice@mail.example"


def sender(field, envelope=None):
    return read(f"From: {field}\nSubject: help\n\n".encode(), envelope).sender


@pytest.mark.parametrize(
    "value",
    [f"{ALICE} <{ALICE}>", f"Alice; Bob <{ALICE}>", f"Alice: <{ALICE}>", f"Alice <MAILTO:{ALICE}>", f"Alice <{ALICE}",
     f"Alice <@relay.example:{ALICE}>", f"{ALICE}.", f"Alice <{ALICE}> <{ALICE}>", f"club: Alice <{ALICE}>;",
     f"Alice ((the (inner) one), x@y.example) <{ALICE}>", f"Alice, bob@other.example <{ALICE}>",
     f"Alice\n <{ALICE}>", f"{ALICE}, Alice <{ALICE.upper()}>", f"{ALICE} (Alice, bob@mail.example)",
     f"Alice @ Home, Inc. <{ALICE}>", f"Alice [Club] <{ALICE}>", f"<{ALICE}> Alice", f"Alice, Ph.D. <{ALICE}>",
     f'"bob@mail.example, " <{ALICE}>', f"{ALICE},", f"=?utf-8?q?bob=40mail=2Eexample=2C?= <{ALICE}>",
     f"=?utf-8?Q?J=C3=B6rg_=28Firma?= <{ALICE}>"],
)  # fmt: skip
def test_a_sender_is_found_however_his_name_is_written_and_none_in_a_name_that_is_encoded(value):
    assert sender(value).lower() == ALICE


def test_a_sender_is_as_he_is_written():
    for address in ("o'brien@x.example", "ALICE@x.example"):
        assert sender(f"Alice <{address}>") == address


@pytest.mark.parametrize(
    "value",
    [f"{ALICE}, bob@mail.example", f"Alice <{ALICE}>; Bob <bob@mail.example>", f"<{ALICE}> <bob@mail.example>",
     f"{ALICE}, attacker@[10.0.0.1]", f"{ALICE}, Attacker <attacker@[10.0.0.1]>", f"{ALICE}\nFrom: eve@mail.example",
     f"Alice, Bob <{ALICE}>, <bob@mail.example>"],
)  # fmt: skip
def test_of_two_senders_none_is_believed(value):
    assert sender(value, ALICE) is None


@pytest.mark.parametrize("field", ["", "Alice", "=?utf-8?q?Alice_=3Calice=40x=2Eexample=3E?=", "alic\u00e9@x.example"])
def test_a_mail_whose_from_has_no_address_is_from_the_sender_of_its_envelope(field):
    assert sender(field, ALICE) == ALICE
    assert sender(field) is None


@pytest.mark.parametrize(
    ("fields", "is_automatic"),
    [
        ("Auto-Submitted: no\nAuto-Submitted: auto-replied", True),
        ("Auto-Submitted: (a (b (c))) auto-generated", True),
        ("Auto-Submitted: auto-replied, no", True),
        ("Precedence: (x) bulk", True),
        ("Precedence: bulk, list", True),
        ("List-Unsubscribe: <mailto:x@y.example>\nList-Id: y", True),
        ("Auto-Submitted: auto-replied (vacation)", True),
        ("Precedence: Junk", True),
        ("Precedence: auto_reply", True),
        ("Return-Path: <>", True),
        ("Auto-Submitted: (auto-replied (really)) no", False),
        ('Auto-Submitted: "no"', False),
        ("Auto-Submitted: no (auto-replied); x=y", False),
        ("Precedence: (bulk) normal", False),
        ("List-Unsubscribe: <mailto:x@y.example>", False),
        ("X-Autoreply: yes", False),
        ("List-Help: <mailto:x@y.example>", False),
    ],
)
def test_what_a_program_has_sent_is_told_by_fields_however_they_are_written(fields, is_automatic):
    assert read(f"From: {ALICE}\n{fields}\n\n".encode(), ALICE).is_automatic is is_automatic


@pytest.mark.parametrize(
    ("fields", "is_likely"),
    [
        ("X-Autoreply: yes", True),
        ("X-Autoresponder: x", True),
        ("X-Precedence: (x) Bulk", True),
        ("X-POST-MessageClass: 9; Autoresponder", True),
        ("X-OTRS-Loop: yes", True),
        ("X-RT-Loop-Prevention: example", True),
        ("Delivered-To: Autoresponder", True),
        ("List-Post: <mailto:x@y.example>", True),
        ("List-Help: <mailto:x@y.example>", False),
        ("X-Auto-Submitted: auto-replied", True),
        ("X-Vacation: yes", True),
        ("X-Mailer: Zendesk Mailer", True),
        ("User-Agent: vacation/1.2", True),
        ("X-Mail-Autoresponse: 1", True),
        ("X-Automatic-Reply: alice", True),
        ("X-MS-Exchange-Generated-Message-Source: Mailbox Rules Agent", True),
        ("X-Auto-Response-Suppress: All", False),
        ("X-Autoreply: no", False),
        ("X-Autoreply: (a program) No", False),
        ("X-Auto-Response: none", False),
        ("X-Autogenerated: false", False),
        ("X-Auto-Submitted: no", False),
        ("X-Precedence: normal", False),
        ("X-POST-MessageClass: 9; Message", False),
        ("X-Mailer: Apple Mail (2.3774)", False),
        ("Delivered-To: alice@mail.example", False),
        ("List-Unsubscribe: <mailto:x@y.example>", False),
    ],
)
def test_other_fields_make_it_only_likely_that_a_program_has_sent_a_mail(fields, is_likely):
    mail = read(f"From: {ALICE}\n{fields}\n\n".encode(), ALICE)
    assert (mail.is_automatic, mail.is_probably_automatic) == (False, is_likely)


@pytest.mark.parametrize(
    "name",
    "MAILER-DAEMON no-reply no_reply do.not.reply noreply-x y.no-reply games-bounces owner-games games-request".split(),
)
def test_at_an_address_of_such_a_name_nobody_reads(name):
    assert automatic.is_address_of_program(f"{name}@x.example")
    assert not automatic.is_address_of_program(f"x.{name}.x@x.example")


SUBJECTS_OF_PROGRAMS = """
    Read: | READ : | Not read: | Recall: | Re: Read: | [EXT] Read: | Gelesen: | Nicht gelesen: | Rückruf: | Non lu :
    Rappel : | Leído: | No leído: | Letto: | Non letto: | Gelezen: | Lida: | Läst: | Lest: | Læst: | Luettu:
    Przeczytano: | Přečteno: | Прочитано: | Okundu: | 已读： | 未读: | 開封済み: | 읽음: | Message Recall: | Accepted:
    Declined: | Automatic reply: | Undeliverable: | [#4711] Request received: | [Request received] | Ticket created:
    Your ticket #5 has been received: | We have received your request - | Ihre Anfrage [#1] ist eingegangen:
    Eingangsbestätigung: | Demande n° 12 enregistrée : | Solicitud recibida: | Ticket #12 has been opened for you:
    Accusé de réception : | Case 00123 was created: | Acknowledgement: | Thank you for contacting us: | Lu :
    We received your message: | Your request: | Ihre Anfrage: | Votre demande n° 5 : | Your mail was received:
"""
"""Separated by strokes. Our own subject may stand behind each."""
SUBJECTS_OF_PEOPLE = """
    Re: Symple Board 101 alice | Re: Symple Board 101 alice [EXTERNAL] | [Ticket#1] Re: Symple Board 101 alice
    #4711 Re: Symple Board 101 alice | my move | I read: a book | Already read | Vacation from Monday
    Thank you for the game | Request | I request a draw | Antwort: Symple Board 101 alice
"""


def subjects(text):
    return [subject.strip() for line in text.strip().split("\n") for subject in line.split("|")]


@pytest.mark.parametrize("subject", subjects(SUBJECTS_OF_PROGRAMS))
def test_a_subject_of_a_program_is_told_by_what_it_says(subject):
    assert automatic.is_subject_of_program(subject)
    assert automatic.is_subject_of_program(f"{subject} Symple Board 101 alice")


@pytest.mark.parametrize("subject", subjects(SUBJECTS_OF_PEOPLE))
def test_subjects_of_people_are_none_of_programs(subject):
    assert not automatic.is_subject_of_program(subject)


@pytest.mark.parametrize(
    ("text", "is_absent"),
    [
        ("I am on vacation until Monday.", True),
        ("Hello,\n\nI am out of\nthe office.", True),
        ("I am out of the office and will be back on Monday.", True),
        ("Ich bin nicht im Büro.", True),
        ("Sorry for the delay, I was on vacation.", False),
        ("I had been out\nof the office for a week!", False),
        ("I was happy to hear. I am on vacation now.", True),
        ("Ich war nicht im Büro.", False),
        ("Out of office until yesterday, sorry!", False),
        ("Yes, that is me.", False),
    ],
)
def test_only_who_is_away_now_says_that_they_are_absent(text, is_absent):
    assert automatic.says_absent(text) is is_absent


@pytest.mark.parametrize(
    "fields",
    ["Content-Type: text/plain; name=a.txt", "Content-Type: text/plain charset=utf-8", "Content-Type: multipart/mixed",
     "Content-Disposition: inline; filename=text.txt", "Content-Transfer-Encoding: (x) quoted-printable"],
)  # fmt: skip
def test_a_text_is_read_whatever_describes_it(fields):
    assert read(f"From: {ALICE}\n{fields}\n\nc3\n".encode(), ALICE).body == "c3"


def test_a_file_whose_name_does_not_fit_together_hides_no_text():
    name = "name*=utf-8''scan.pdf; name*0=scan"
    file = f"Content-Type: application/pdf; {name}\nContent-Disposition: inline; filename=scan.pdf\n\n%PDF\n"
    text = f"Content-Type: text/plain; {name}\n\nc3\n"
    assert body(f"--x\n{file}--x\n{text}--x--\n", "multipart/mixed; boundary=x") == "c3"


@pytest.mark.parametrize("footer", ["", "\n--\nThe list", "_____\nThe list of Symple\n", "\nUnsubscribe\n"])
@pytest.mark.parametrize("encoded", ["YzMKSGVsbG8gYm9iCg==\n", "YzMKSGVsbG8gYm9iCg\n", "YzMKSGVsbG8g\nYm9iIQoK\n"])
@pytest.mark.parametrize("encoding", ["base64", "BASE64 (as ever)"])
def test_base64_is_read_with_its_comment_without_its_padding_and_without_a_plain_footer(footer, encoded, encoding):
    assert body(f"{encoded}{footer}", encoding=encoding).startswith("c3\nHello bob")


@pytest.mark.parametrize("value", ["<>", "< >", "", "()"])
def test_mails_whose_message_id_is_empty_are_told_apart(value):
    mails = [f"From: {ALICE}\nMessage-ID: {value}\nDate: {day}\n\nc3".encode() for day in (1, 2)]
    assert len({read(raw, ALICE).message_id for raw in mails}) == 2


def test_a_long_text_is_read_in_its_charset_wherever_it_is_cut():
    assert {body(f"c3{'x' * n}\n{'語' * 200_000}")[3 + n] for n in range(4)} == {"語"}


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\u2028", "\u2029"])
def test_a_line_ends_in_whatever_way_a_program_writes_that(end):
    assert body(f"c3{end}Hello{end}bob{end}") == "c3\nHello\nbob"


@pytest.mark.parametrize("link", ["<mailto:d2@nnen>", " <mailto:d2@nnen> "])
def test_a_link_that_was_made_of_a_turn_is_none(link):
    comment = "Write to Al<mailto:a@b.example> or <mailto:a@b.example>"
    assert body(f"f1,d2@nnen{link}\n{comment}").replace(" \n", "\n") == f"f1,d2@nnen\n{comment}"


def test_a_paragraph_of_format_flowed_is_one_line_joined_without_blanks_by_delsp():
    text = "c3\n\nThis is one \nparagraph \nof text.\n This line begins with a blank.\n"
    text += "> quoted \n> text\nMy own. \n-- \nAlice\n"
    assert body(text, "text/plain; format=flowed") == (
        "c3\n\nThis is one paragraph of text.\nThis line begins with a blank.\nMy own. "
    )
    assert body("今日は \n良い天気\n", "text/plain; charset=utf-8; format=flowed; delsp=yes") == "今日は良い天気"


ATTRIBUTIONS = [
    "On Fri, Nov 20, 2026 at 1:00 PM Symple <pbm@pbm.example> wrote:",
    "On Fri, Nov 20, 2026 at 1:00 PM Symple play-by-mail server\n<pbm+r17-0123456789abcdef@pbm.example> wrote:",
    "On Friday, November 20, 2026 at 12:00:00 PM GMT+1, Symple\nServer <pbm@pbm.example>\nwrote:",
    "On 20/11/2026 13:00, pbm@pbm.example wrote:",
    "On 20 Nov 2026, at 13:00, pbm@pbm.example wrote:",
    "Am 20.11.26 um 13:00 schrieb pbm@pbm.example:",
    "Am 20. November 2026 13:00:00 MEZ schrieb Symple:",
    "Le ven. 20 nov. 2026 à 13:00, Symple <pbm@pbm.example> a écrit :",
    "El vie, 20 nov 2026 a las 13:00, Symple (<pbm@pbm.example>) escribió:",
    "Il giorno ven 20 nov 2026 alle ore 13:00 Symple <pbm@pbm.example> ha scritto:",
    "Em sex., 20 de nov. de 2026 às 13:00, Symple <pbm@pbm.example> escreveu:",
    "Op vr 20 nov 2026 om 13:00 schreef Symple <pbm@pbm.example>:",
    "Den fre 20 nov. 2026 kl 13:00 skrev Symple <pbm@pbm.example>:",
    "fre. 20. nov. 2026 kl. 13:00 skrev Symple <pbm@pbm.example>:",
    "pe 20. marrask. 2026 klo 13.00 Symple (pbm@pbm.example) kirjoitti:",
    "pt., 20 lis 2026 o 13:00 Symple <pbm@pbm.example> napisał(a):",
    "pá 20. 11. 2026 v 13:00 odesílatel Symple <pbm@pbm.example> napsal:",
    "пт, 20 нояб. 2026 г. в 13:00, Symple <pbm@pbm.example>:",
    "пт, 20 нояб. 2026 г. в 13:00, Symple play-by-mail server\n<pbm@pbm.example>:",
    "20 Kas 2026 Cum 13:00 tarihinde Symple <pbm@pbm.example> şunu yazdı:",
    "Symple <pbm@pbm.example> ezt írta (időpont: 2026. nov. 20., P, 13:00):",
    "2026年11月20日(金) 13:00 Symple <pbm@pbm.example>:",
    "Symple <pbm@pbm.example> 于2026年11月20日周五 13:00写道：",
    "2026년 11월 20일 (금) 오후 1:00, Symple <pbm@pbm.example>님이 작성:",
    "su 22. marrask. 2026 klo 13.00 Symple play-by-mail server\n<pbm@pbm.example> kirjoitti:",
    "În vin., 20 nov. 2026 la 13:00, Symple play-by-mail server\n<pbm@pbm.example> a scris:",
    "Στις Παρ 20 Νοε 2026 στις 1:00 μ.μ., ο/η Symple server\n<pbm@pbm.example> έγραψε:",
    "Symple play-by-mail server <pbm@pbm.example>, 20 Kas 2026\nCum, 13:00 tarihinde şunu yazdı:",
    "Symple play-by-mail server <pbm@pbm.example> ezt írta (időpont:\n2026. nov. 20., P, 13:00):",
    'At 2026-11-20 13:00:05, "Symple play-by-mail server"\n<pbm@pbm.example> wrote:',
    "Quoting Symple <pbm@pbm.example>:",
    "در تاریخ جمعه ۲۰ نوامبر ۲۰۲۶، ۱۳:۰۰ Symple <pbm@pbm.example> نوشت:",
    "در تاریخ جمعه ۲۰ نوامبر ۲۰۲۶ ساعت ۱۳:۰۰ Symple play-by-mail server\n<pbm@pbm.example> نوشت:",
]


@pytest.mark.parametrize(
    "attribution", [*ATTRIBUTIONS, "Symple <pbm@pbm.example> writes:", "bob wrote:", "Zitat von x@y.example:"]
)
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_quotation_is_cut_with_the_line_that_says_whose_it_is(attribution, between):
    assert quotes.own(f"c3\n\nGood luck\n{between}{attribution}{between}{QUOTE}") == "c3\n\nGood luck"
    assert quotes.own(f"{attribution}{between}{QUOTE}\nc3\n") == "c3"


@pytest.mark.parametrize("attribution", ATTRIBUTIONS)
def test_what_follows_an_attribution_is_cut_if_it_is_not_marked_as_a_quotation(attribution):
    assert quotes.own(f"c3\n\n{attribution}\n\n{ORIGINAL}") == "c3"
    assert quotes.own(f"c3\n{attribution}\n{QUOTE}") == "c3"


def test_a_quotation_is_cut_with_the_line_that_tells_who_wrote_and_a_signature_but_hyphens_alone_are_the_pass():
    who = "pbm+r17-0123456789abcdef0123456789abcdef@games.example.org"
    for attribution in (f"<{who}> wrote (20 Nov 2026 13:00 GMT):", f"{who} writes:", f"<{who}>\nwrote (20 Nov 2026):"):
        assert quotes.own(f"c3\n{attribution}\n{QUOTE}") == "c3"
    said = "  On Fri, Nov 20, 2026 at 1:00 PM, Symple<pbm@pbm.example> wrote:   "
    assert quotes.own(f"c3\n\nHello\n\n{said}{ORIGINAL}") == "c3\n\nHello"
    assert quotes.own("c3\n\nOn 20.11.2026 I wrote:  nothing") == "c3\n\nOn 20.11.2026 I wrote:  nothing"
    assert quotes.own(">>> a\n>> b\n> c\n\nc3") == "c3"
    assert quotes.own(">>> a@b.example >>>\n>> b\n\nc3") == "c3"
    assert quotes.own("c3\n-- \nAlice\nCologne") == "c3"
    assert quotes.own("--\n-- \nAlice") == "--"
    assert quotes.own("-- \n\n") == "--"
    armour = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n{}\nc3\n\nd4?\n-----BEGIN PGP SIGNATURE-----\nx"
    assert {quotes.own(armour.format(empty)) for empty in ("", " ", "\u00a0")} == {"c3\n\nd4?"}
    assert quotes.own(f"-- \n\n{ATTRIBUTIONS[0]}\n{QUOTE}") == "--"
    assert quotes.own("-- \nAlice") == ""


@pytest.mark.parametrize(
    "heading",
    [
        "-----Original Message-----",
        "-----Ursprüngliche Nachricht-----",
        "----- Message d'origine -----",
        "-------- Mensaje original --------",
        "---------- Forwarded message ---------",
        "________________________________",
        "-----Ursprungligt meddelande-----",
        "---------- Původní e-mail ----------",
        "-----Izvirno sporočilo-----",
        "-----Αρχικό μήνυμα-----",
        "-----הודעה מקורית-----",
        "Summary: Symple board 101, alice (white) against bob (black)",
        "Notes: Spiro board a1 after 3 of its 5 moves, alice (X) against bob (O)",
        "Begin forwarded message:",
        "From: x@y.example\nSent: Friday\nTo: z\nSubject: b",
        "*From:* x@y.example\n*Date:* Friday\n*To:* z",
        "Von: x\nGesendet: Freitag\nAn: y\nBetreff: z",
        "De : x\nEnvoyé : vendredi\nÀ : y\nObjet : z",
        "De: x\nEnviado el: viernes\nPara: y\nAsunto: z",
        "Da: x\nInviato: venerdì\nA: y\nOggetto: z",
        "Van: x\nVerzonden: vrijdag\nAan: y\nOnderwerp: z",
        "Från: x\nSkickat: fredag\nTill: y\nÄmne: z",
        "От: x\nОтправлено: пятница\nКому: y\nТема: z",
        "发件人: x\n发送时间: 星期五\n收件人: y\n主题: z",
        "寄件者: x\n寄件日期: 星期五\n收件者: y\n主旨: z",
        "Από: x\nΣτάλθηκε: Παρασκευή\nΠρος: y\nΘέμα: z",
        "De la: x\nTrimis: vineri\nCătre: y\nSubiect: z",
        "Від: x\nНадіслано: п'ятниця\nКому: y\nТема: z",
        "От: x\nИзпратено: петък\nДо: y\nОтносно: z",
        "Od: x\nOdoslané: piatok\nKomu: y\nPredmet: z",
        "Šalje: x\nPoslano: petak\nPrima: y\nPredmet: z",
        "Từ: x\nĐã gửi: Thứ Sáu\nĐến: y\nChủ đề: z",
        "Dari: x\nDikirim: Jumat\nKepada: y\nSubjek: z",
        "Daripada: x\nDihantar: Jumaat\nKepada: y\nSubjek: z",
        "Frá: x\nSent: föstudagur\nTil: y\nEfni: z",
        "מאת: x\nנשלח: יום שישי\nאל: y\nנושא: z",
        "من: x\nتاريخ الإرسال: الجمعة\nإلى: y\nالموضوع: z",
        "Gesendet: Freitag\nVon: x\nAn: y\nBetreff: z",
        "-----Original-Nachricht-----\nBetreff: z",
        "---- 回复的原邮件 ----\n| 发件人 | x |",
    ],
)
def test_all_behind_the_heading_of_an_original_is_cut(heading):
    assert quotes.own(f"c3\n\nHello\n\n{heading}\n\n{ORIGINAL}") == "c3\n\nHello"


@pytest.mark.parametrize(
    "footer",
    [
        "Sent from my iPhone",
        "Von meinem iPhone gesendet",
        "Envoyé de mon iPhone",
        "Enviado desde mi iPhone",
        "Inviato da iPhone",
        "Get Outlook for iOS<https://aka.ms/o0ukef>",
        "Sent from Yahoo Mail for iPhone",
        "Sent with Proton Mail secure email.",
        "Sent with [Proton Mail](https://proton.me/) secure email.",
        "Sent from [Proton Mail](https://proton.me/mail/home) for iOS.",
        "Enviado con el correo electrónico seguro de Proton Mail.",
        "Inviato con l'email sicura Proton Mail.",
        "Sent from my Android device with K-9 Mail. Please excuse my brevity.",
        "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.",
        "Sent using [Zoho Mail](https://www.zoho.com/mail/)",
        "Sent from Thunderbird for Android",
        "Sent with Tuta; enjoy secure & ad-free emails:\nhttps://tuta.com",
        "iPhoneから送信",
        "发自我的 iPhone",
        "Von meinem/meiner Galaxy gesendet",
        "Sent via the Samsung Galaxy S21, an AT&T 5G smartphone",
        "Sent from Nine",
        "Holen Sie sich Outlook für iOS",
        "Verzonden vanuit Outlook voor Android",
        "Trimis de pe iPhone-ul meu",
        "iPhone'umdan gönderildi",
        "Odoslané z iPhonu",
        "נשלח מה-iPhone שלי",
        "從我的 iPhone 傳送",
    ],
)
def test_the_footer_of_a_telephone_is_cut(footer):
    assert quotes.own(f"c3\nHello\n\n{footer}\n\n{ATTRIBUTIONS[0]}\n{QUOTE}") == "c3\nHello"


@pytest.mark.parametrize(
    "text",
    [
        "--",
        "--\nNothing to do.",
        "Nothing to do.\n--",
        "c3\n--\none\ntwo\nthree\nfour\nfive",
        f"c3\n--\n{'long ' * 20}line",
        "-e3,+f6",
        "c3>c4",
        "<c3",
        "e3:5\nOn e3 I think:\nwell",
        "c3\nFrom: here to there",
        "c3\nTo: you\nSubject: nothing",
        "c3\n\nSent from heaven, this move",
        "c3\n\nSent from nine to five",
        "c3\n\nI wrote:\nnothing",
        "c3\n----- a line -----\nmore",
        "c3\n\n_____\nmore",
        "c3\n--Alice",
        "c3\n\nMeet me on 20.11.2026 at 13:00:\nhere",
        "c3\nThis message came from outside your house.\n[EXTERNAL]",
        "This email came by bicycle.\nSender: unknown",
        "----\nsafe\nc3",
        "signup alice secret-word alice@players.example",
    ],
)
def test_what_a_player_wrote_is_never_cut(text):
    assert quotes.own(text) == text


@pytest.mark.parametrize(
    "heading",
    [
        "---- On Fri, 20 Nov 2026 13:00:00 +0100 pbm@pbm.example wrote ----",
        "---- Am Fr., 20 Nov. 2026 13:00:00 +0100 pbm@pbm.example schrieb ----",
        " ---- On Fri, 20 Nov 2026 13:00:00 +0100 <pbm@pbm.example> wrote ---- ",
        "---- On Fri, 20 Nov 2026 13:00:00 +0100 A Server\n<pbm@pbm.example> wrote ----",
        ">>> pbm@pbm.example 11/20/2026 1:00 PM >>>",
        ">>> Server <pbm@pbm.example> 20.11.2026 13:00 >>>",
        ">>> The Play-by-mail Server of the Club\n<pbm@pbm.example> 11/20/26 1:00 PM >>>",
        ">>> On 20.11.2026 at 13:00, in message <1@pbm.example>, Symple <pbm@pbm.example> wrote:",
        ">>> On 11/20/2026 at 1:00 PM, in message <5.6@x.example>, Server <pbm@pbm.example>\nwrote:",
        "-----Server wrote: -----",
    ],
)
def test_what_follows_a_heading_between_marks_is_cut_whether_it_is_marked_or_not(heading):
    assert quotes.own(f"c3\n\nHello\n\n{heading}\n\n{ORIGINAL}") == "c3\n\nHello"
    assert quotes.own(f"c3\n\nHello\n\n{heading}\n{QUOTE}") == "c3\n\nHello"


@pytest.mark.parametrize("delimiter", ["--\u00a0", "-- \u200b", "\ufeff-- ", "-\u200b-\u00a0", "\u200c--\u2060\u202f"])
def test_a_signature_or_a_footer_is_cut_behind_what_nobody_sees(delimiter):
    long = "A line that is longer than most lines of a signature, and that only its delimiter tells from a text"
    assert quotes.own(f"c3\n\u200b\n{delimiter}\n{long}") == "c3"
    assert quotes.own("c3\n\u200b\n\u200bSent from my\u00a0iPhone\ufeff\n\u2060") == "c3"
    assert quotes.own("c3\nA family: \U0001f468\u200d\U0001f467 \u2764\ufe0f") == (
        "c3\nA family: \U0001f468\u200d\U0001f467 \u2764\ufe0f"
    )


CAUTION = (
    "CAUTION: This email originated from outside of the organization. Do not click links or open attachments "
    "unless you recognize the sender and know the content is safe."
)


FIRST_CONTACTS = [
    "Sie erhalten nicht häufig E-Mails von a@b.example. Erfahren Sie, warum dies wichtig ist",
    "Sie erhalten nicht oft eine E-Mail von a@b.example. Weitere Informationen, warum dies wichtig ist, hier",
    (
        "Einige Personen, die diese Nachricht erhalten haben, erhalten häufig keine E-Mails von a@b.example. "
        "Erfahren Sie, warum dies wichtig ist"
    ),
    "Vous ne recevez pas souvent de courriers de a@b.example. Découvrez pourquoi ceci est important",
    "Vous n'obtenez pas souvent d'e-mail à partir de a@b.example. Pourquoi c'est important",
    (
        "Certaines personnes qui ont reçu ce message ne reçoivent pas souvent d'e-mails de a@b.example. Découvrez "
        "pourquoi cela est important"
    ),
    "No suele recibir correo electrónico de a@b.example. Por qué es esto importante",
    (
        "Algunas personas que recibieron este mensaje no suelen recibir correo de a@b.example. Descubra por qué esto "
        "es importante"
    ),
    "No recibe con frecuencia correos electrónicos de a@b.example. Sepa por qué esto es importante",
    "Non si ricevono spesso messaggi di posta elettronica da a@b.example. Informazioni sul perché è importante",
    (
        "Alcune persone che hanno ricevuto questo messaggio non ricevono spesso e-mail da a@b.example. Scopri perché è "
        "importante"
    ),
    "U ontvangt niet vaak e-mail van a@b.example. Meer informatie over waarom dit belangrijk is",
    "Je ontvangt niet vaak e-mail van a@b.example. Ontdek waarom dit belangrijk is",
    "Você não costuma receber emails de a@b.example. Saiba por que isso é importante",
    "Não recebe frequentemente e-mails de a@b.example. Saiba por que motivo isto é importante",
    (
        "Algumas pessoas que receberam esta mensagem não costumam receber e-mails de a@b.example. Saiba por que isso é "
        "importante"
    ),
    "Some people who received this message don\u2019t often get email from a@b.example. Learn why this is important",
]
"""What Outlook writes above the first mails of a sender."""
OUTSIDE = [
    (
        "ACHTUNG: Diese E-Mail stammt von außerhalb der Organisation. Klicken Sie nicht auf Links und öffnen Sie keine "
        "Anhänge, es sei denn, Sie kennen den Absender und wissen, dass der Inhalt sicher ist."
    ),
    "VORSICHT: Diese Nachricht wurde von außerhalb Ihres Unternehmens gesendet. Bitte öffnen Sie keine Anhänge.",
    "Diese E-Mail kommt von einem externen Absender.",
    (
        "ATTENTION : Cet e-mail provient de l'extérieur de l'organisation. Ne cliquez pas sur les liens et n'ouvrez "
        "pas les pièces jointes, à moins que vous ne reconnaissiez l'expéditeur et sachiez que le contenu est sûr."
    ),
    "MISE EN GARDE : Ce courriel provient d'un expéditeur externe.",
    (
        "PRECAUCIÓN: Este correo electrónico se originó fuera de la organización. No haga clic en los enlaces ni abra "
        "los archivos adjuntos a menos que reconozca al remitente y sepa que el contenido es seguro."
    ),
    "ATENCIÓN: Este mensaje proviene de un remitente externo.",
    (
        "ATTENZIONE: Questa e-mail proviene dall'esterno dell'organizzazione. Non fare clic sui link né aprire gli "
        "allegati a meno che non si riconosca il mittente e si sappia che il contenuto è sicuro."
    ),
    "AVVISO: questo messaggio proviene da un mittente esterno. Prestare attenzione ai link.",
    (
        "LET OP: Deze e-mail is afkomstig van buiten de organisatie. Klik niet op links en open geen bijlagen, tenzij "
        "u de afzender herkent en weet dat de inhoud veilig is."
    ),
    "WAARSCHUWING: Dit bericht is verzonden door een externe afzender.",
    (
        "CUIDADO: Este e-mail foi originado fora da organização. Não clique em links nem abra anexos, a menos que "
        "reconheça o remetente e saiba que o conteúdo é seguro."
    ),
    "ATENÇÃO: Esta mensagem foi enviada por um remetente externo.",
    "WARNING: This email originated from outside of Acme Inc. Do not click links unless you know the sender.",
]
"""What mail servers of firms write above each mail from elsewhere."""


@pytest.mark.parametrize(
    "warning",
    [
        "[EXTERNAL]",
        "*** EXTERNAL ***",
        "External Email",
        "CAUTION: External Sender",
        CAUTION,
        CAUTION.replace(" click", "\nclick").replace(" and", "\nand"),
        "CAUTION\nThis email originated from outside the company.\nBe careful with links.",
        "------------\nCAUTION: This email originated from\noutside of the organization.\n------------",
        "This Message Is From an External Sender\nThis message came from outside your organization.",
        "You don't often get email from a@b.example. Learn why this is important<https://aka.ms/LearnAboutSender>",
        "EXTERNAL EMAIL: Do not click links or attachments unless you know the sender.",
        "ACHTUNG: Diese E-Mail stammt von einem externen Absender. Bitte keine Links oder Anhänge öffnen.",
        "ATTENTION : Ce courriel provient de l'extérieur de l'organisation.",
        "Let op: deze e-mail is afkomstig van buiten de organisatie.",
        *FIRST_CONTACTS,
        *(f"[{line}\nhttps://aka.ms/LearnAboutSenderIdentification ]" for line in FIRST_CONTACTS),
        *OUTSIDE,
        *("\n".join(wrap(line, 72)) for line in OUTSIDE),
        "[EXTERN]",
        "ACHTUNG: Externe E-Mail!",
        "Externer Absender",
        "Bericht van buiten de organisatie: wees voorzichtig met links.",
        "E-mail externo - Cuidado com links e anexos",
        "[Courriel externe]",
        "ATTENTION : expéditeur externe",
        "*** CORREO EXTERNO ***",
        "ATTENZIONE: E-mail esterna",
        "[ESTERNO]",
        "LET OP: Externe e-mail",
        "ATENÇÃO: E-mail externo",
        "This Message Is From an Untrusted Sender\nYou have not previously corresponded with this sender.",
        "This Message Is From an External Sender\nThis message came from outside your organization.\nReport Suspicious",
        f"{FIRST_CONTACTS[0]}\n\n[EXTERN]\n\n{OUTSIDE[0]}",
    ],
)
@pytest.mark.parametrize("between", ["\n", "\n\n\n"])
def test_a_warning_above_an_answer_is_cut(warning, between):
    assert quotes.own(f"{warning}{between}c3\nGood luck").strip() == "c3\nGood luck"
    assert quotes.own(f"\n\n{warning}{between}--") == "--"


@pytest.mark.parametrize("text", ["[EXTERNAL]\n", "[EXTERNAL]", OUTSIDE[0], FIRST_CONTACTS[0], "", "\n", "> c3\n"])
def test_a_mail_of_nothing_but_a_warning_keeps_the_command_in_its_subject(text):
    mail = read(f"From: alice@x.org\nSubject: spiro show 101\n\n{text}".encode(), "alice@x.org")
    assert (mail.sender, mail.subject, mail.body) == ("alice@x.org", "spiro show 101", "")


@pytest.mark.parametrize(
    "text",
    [
        "Sie erhalten nicht häufig E-Mails von mir, tut mir leid.",
        "Sie erhalten nicht oft Mails von mir, und warum das so ist, ist eine lange Geschichte.",
        "You don't often get email from me, do you?",
        "Vous ne recevez pas souvent de courriers de moi. Pourquoi ? Je voyage.",
        "No suele recibir correo de mi parte.",
        "Non ricevi spesso e-mail da me, scusa.",
        "Je ontvangt niet vaak e-mail van mij.",
        "Você não costuma receber emails de mim.",
        "Achtung: diese Nachricht kommt von außerhalb, ich bin im Garten.",
        "Diese Nachricht kommt von außerhalb, denn ich bin in Ferien.",
        "Attention, ce message vient de l'extérieur : je suis au jardin.",
        "This message comes from outside, where it rains.",
        "This mail is about an external disk of our company that has failed.",
        "Cuidado! Este mensaje lo escribo fuera, en el jardín.",
        "Let op: deze mail schrijf ik buiten, in de tuin.",
        "Attenzione! Ti mangio la torre.",
        "Achtung, externe Festplatten sind gerade teuer.",
        "Vorsicht, ich ziehe jetzt auf e5!",
        "Important: I am away from Monday on.",
        "I often write to bob@x.example. Why do you ask?",
        "I often get email from bob@x.example. Why not you?",
    ],
)
def test_words_of_a_person_that_only_resemble_a_warning_stay(text):
    assert quotes.own(text) == text
    assert quotes.own(f"{text}\n\nI am not sure who the sender of that link was.").startswith(text)
    assert quotes.own(f"{FIRST_CONTACTS[0]}\n\n{text}\ne5") == f"{text}\ne5"
    assert quotes.own(f"e5\n\n{text}") == f"e5\n\n{text}"


PROOFPOINT = (
    "ZjQcmQRYFpfptBannerStart\nThis Message Is From an Untrusted Sender\n"
    "You have not previously corresponded with this sender.\n"
    "    Report Suspicious  <https://us-phishalarm-ewt.proofpoint.com/EWT/v1/x>   \u200c\nZjQcmQRYFpfptBannerEnd"
)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"{PROOFPOINT}\n\ne5\n\nGood luck", "e5\n\nGood luck"),
        (f"{PROOFPOINT}\ne5", "e5"),
        (f"e5 Good l\u2026 ZjQcmQRYFpfptPreheaderEnd\n{PROOFPOINT}\ne5\nGood luck", "e5\nGood luck"),
        (f"e5 Good luck and thanks\n{PROOFPOINT}\ne5\n\nGood luck, and thanks!", "e5\n\nGood luck, and thanks!"),
        (f"e5\n\nGood luck\n\n{PROOFPOINT}\nNew: Symple board 101, x", "e5\n\nGood luck"),
        (f"e5\n\n{PROOFPOINT}\nSummary: Symple board 101, x", "e5"),
        ("e5\n\nWhat does BannerEnd mean, and BannerStart?", "e5\n\nWhat does BannerEnd mean, and BannerStart?"),
    ],
)
def test_a_warning_between_the_marks_of_proofpoint_is_cut_with_the_preview_above_it(text, own):
    assert quotes.own(text) == own


@pytest.mark.parametrize(
    "signature", ["Alice", "Alice\nCologne", "Alice\n\nCologne\n+49 221 0\nhttps://alice.example", "Alice\n\n"]
)
def test_a_signature_is_cut_though_the_blank_behind_its_hyphens_was_lost(signature):
    assert quotes.own(f"c3\n\nGood luck\n\n--\n{signature}") == "c3\n\nGood luck"
    assert quotes.own(f"c3\n--\n{signature}\n\n{ATTRIBUTIONS[0]}\n{QUOTE}") == "c3"
    assert quotes.own(f"{ATTRIBUTIONS[0]}\n{QUOTE}\n\nc3\n--\n{signature}") == "c3"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>c3</p><p>one<br>two</p>", "c3\none\ntwo"),
        ("<div>c3</div><div><br></div><div>x&nbsp;&amp;&lt;y</div>", "c3\n\nx &<y"),
        ("c3<style>x</style><script>y</script><title>z</title><!-- w -->", "c3"),
        ("<div style='display : none'>x</div>c3<span hidden>y</span>", "c3"),
        ("c3<blockquote>x<blockquote>y</blockquote>z</blockquote>", "c3\n"),
        ("c3<div class='gmail_quote'>x<div>y</div></div><div>after</div>", "c3\nafter"),
        ("<pre>a  b\n c</pre>", "a  b\n c"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b \nc \n"),
        ("<p>c3</p><![if !x]><p>shown</p><![endif]>", "c3\nshown\n"),
        ("3 < 4 > 2", "3 < 4 > 2"),
        ("<p>c3</p><script>never closed", "c3\n"),
        ("c<b>3</b>-c<i>6</i>", "c3-c6"),
    ],
)
def test_html_is_read_as_it_is_seen(html, text):
    assert to_text(html).rstrip() == text.rstrip()


@pytest.mark.parametrize(
    "value", ["pre-wrap", "pre", "break-spaces", "PRE-WRAP !important", "normal; white-space: pre-wrap"]
)
@pytest.mark.parametrize(
    "html",
    [
        "<div style='color: red; white-space : {}'>{}</div>",
        "<body style='white-space:{}'><p>{}</p></body>",
        "<style>.typed {{ white-space: {} }}</style><div class='x typed'>{}</div>",
        "<style type='text/css'><!-- p, div.Typed {{color:red;white-space:{};}} --></style><div class=Typed>{}</div>",
        "<style>/* div {{}} */ @media screen {{ #typed {{white-space: {}}} }}</style><span id=typed>{}</span>",
        "<style>body div > span {{white-space: {}}}</style><div><span>{}</span></div>",
        "<div style='white-space: {}'><b>{}</b><div></div></div>",
    ],
)
def test_line_ends_are_read_where_html_says_that_they_are_shown(value, html):
    assert to_text(html.format(value, "e5\n\nGood  luck")).strip() == "e5\n\nGood  luck"


def test_what_is_shown_otherwise_has_no_line_ends():
    assert to_text("<div style='white-space: pre-line'>e5 \n  Good   luck</div>") == "e5\nGood luck\n"
    assert to_text("<p style='white-space-collapse: preserve'>e5\nHi</p>") == "e5\nHi\n"
    assert to_text("<div style='white-space: pre-wrap'>e5\n<p style='white-space: normal'>a\nb</p>c\nd</div>") == (
        "e5\na b\nc\nd\n"
    )
    assert to_text("<style>.x {white-space: pre}</style><p class='y'>a\nb</p><p style='white-space: nowrap'>c\nd") == (
        "a b\nc d"
    )
    assert to_text("<pre style='white-space: normal'>a\nb</pre>a\nb") == "a b\na b"
    assert to_text("<div style='white-space: pre'>a\n<div>b\nc</div>d\n</div>e\nf") == "a\nb\nc\nd\ne f"


@pytest.mark.parametrize("tag", ["pre", "listing", "xmp", "plaintext", "XMP width=80"])
def test_elements_of_typed_text_keep_their_line_ends(tag):
    end = "" if tag == "plaintext" else f"</{tag.split()[0]}>after\nit"
    after = "" if tag == "plaintext" else "\nafter it"
    assert to_text(f"<p>a\nb</p><{tag}>e5\n Hi\n{end}") == f"a b\ne5\n Hi\n{after}".replace("\n\n", "\n")


def test_what_stands_between_tags_of_an_example_is_no_tag():
    assert to_text("<xmp>e5 <b> &amp; </p></xmp>c<b>3</b>") == "e5 <b> &amp; </p>\nc3"
    assert to_text("e5<plaintext><b></plaintext> &lt;") == "e5\n<b></plaintext> &lt;\n"
    assert to_text("<blockquote><xmp>d4</xmp></blockquote>e5") == "e5"


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("c3\u2013c6", "c3-c6"),
        ("c3\u2011c6", "c3-c6"),
        ("\u2212e3,+f6", "-e3,+f6"),
        ("\u2013e3,+f6", "-e3,+f6"),
        ("\u2013", "--"),
        ("\u2014", "--"),
        ("\u2013nagtime=3", "--nagtime=3"),
        ("\u2014nag=3", "--nag=3"),
        ("\u2014noweekends", "--noweekends"),
        ("\u2013small", "-small"),
        ("\u2014pieces=2", "-pieces=2"),
        ("\u2018x\u2019", "'x'"),
        ("\u201cx\u201d", '"x"'),
        ("e3:5#1", "e3:5#1"),
        ("e5\ufe0f", "e5"),
        ("e\ufe0e5", "e5"),
    ],
)
def test_dashes_and_quotes_are_read_as_what_they_stand_for(written, typed):
    assert plain_word(written) == typed


def test_blanks_that_look_different_are_blanks_and_those_that_are_not_seen_are_none():
    assert [plain_word(word) for word in words_of("ｓｐｉｒｏ\u3000ｃ３，ｄ４、ｅ５")] == ["spiro", "c3,d4,e5"]
    assert words_of("spiro\u00a0move\u2009101 \u200be3\ufeff:5") == ["spiro", "move", "101", "e3:5"]


NO_TIME = 30
"""Seconds of CPU time on a slow machine, for what takes two, and minutes where each byte is compared with all."""


@pytest.mark.long
@pytest.mark.parametrize(
    "raw",
    [
        b"".join(b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(40)) + b"\n" * 900_000,
        b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n" * 180_000,
        b"Content-Type: message/rfc822\n\n" * 30_000,
        b"a:\n" * 300_000 + b"\nx",
        b"From: " + b"(" * 900_000 + b"\n\n",
        b"From: " + b"a@b.example, " * 70_000 + b"\n\n",
        b"Subject: " + b"=?utf-8?q?a?= " * 60_000 + b"\n\n",
        b"Content-Type: text/plain" + b"; a=b" * 180_000 + b"\n\nx",
        b'Content-Type: multipart/mixed; a="' + b";" * 900_000 + b"\n\nx",
        b'Content-Type: multipart/mixed; a="' + b";;;;\n " * 150_000 + b"\n\nx",
        b"Content-Type: text/plain; charset=" + b"x" * 900_000 + b"\n\nx",
        b"Content-Type: multipart/report; boundary=x\n\n--x\nContent-Type: message/delivery-status\n\n"
        + b"Action: failed\n\n" * 50_000,
    ],
    ids=range(12),
)
def test_a_megabyte_that_is_hard_to_take_apart_is_no_work(raw):
    begin = time.process_time()
    read(raw, None)
    assert time.process_time() - begin < NO_TIME


def report_safe(original, kind="message/rfc822; x-spam-type=original", sender="alice@mail.example"):
    """What SpamAssassin makes of a mail that it takes for spam."""
    head = (
        f"Received: from localhost by mail.example\nFrom: {sender}\nTo: pbm@pbm.example\nMessage-Id: <7@mail.example>\n"
        "Subject: *****SPAM***** Re: Symple Board 101 alice\nX-Spam-Flag: YES\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="----------=_5A"\n\n'
        "This is a multi-part message in MIME format.\n\n"
    )
    report = (
        "Content-Type: text/plain; charset=iso-8859-1\nContent-Disposition: inline\n\n"
        'Spam detection software, running on the system "mail.example",\n'
        "has identified this incoming email as possible spam.\n\nContent preview:  e5 Good luck [...]\n"
    )
    wrapped = f"Content-Type: {kind}\nContent-Disposition: attachment\nContent-Transfer-Encoding: 8bit\n\n{original}"
    begin = "\n------------=_5A\n"
    return f"{head}{begin}{report}{begin}{wrapped}\n------------=_5A--\n".encode()


SPAM = (
    "From: alice@mail.example\nSubject: Re: Symple Board 101 alice\nMessage-Id: <7@mail.example>\n{}\ne5\n\nGood luck\n"
)


@pytest.mark.parametrize("kind", ["message/rfc822; x-spam-type=original", 'text/plain; x-spam-type="original"'])
def test_the_report_of_a_spam_filter_around_a_mail_is_opened(kind):
    mail = read(report_safe(SPAM.format(""), kind), None)
    assert (mail.subject, mail.body) == ("Re: Symple Board 101 alice", "e5\n\nGood luck")
    assert (mail.sender, mail.message_id, mail.is_automatic) == (ALICE, "<7@mail.example>", False)


def test_what_is_wrapped_is_from_the_sender_of_the_report_and_automatic_if_it_says_so():
    assert read(report_safe(SPAM.format(""), sender="eve@mail.example"), None).sender == "eve@mail.example"
    assert read(report_safe(SPAM.format("Auto-Submitted: auto-replied\n")), None).is_automatic
    assert read(report_safe(SPAM.format(""), "message/rfc822"), None).body.startswith("Spam detection software")
