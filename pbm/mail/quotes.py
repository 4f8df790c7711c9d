"""The part of a mail's text that its writer wrote, without what mail programs add: quotations, signatures, footers.

A line is cut only for the marks of mail programs, never for what it says; so no move is cut.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from pbm.mail import own_mails
from pbm.texts import NARROWEST

BLANKS = dict.fromkeys(["\u00a0", "\u1680", *map(chr, range(0x2000, 0x200B)), "\u202f", "\u205f", "\u3000"], " ")
INVISIBLE = dict.fromkeys(
    ["\u00ad", "\u034f", "\u180e", *map(chr, [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]),
     "\ufeff"], ""
)  # fmt: skip
INVISIBLE_LETTERS = "".join(INVISIBLE)
VISIBLE_BLANKS = str.maketrans(BLANKS)
BETWEEN_WORDS = str.maketrans(BLANKS | INVISIBLE)
MOST_BETWEEN = 5
"""How many empty lines may be between an attribution, such as ``On Friday, bob wrote:``, and the quotation."""
MOST_OF_ATTRIBUTION = 4
"""Into how many lines mail programs break an attribution."""
LONGEST_ATTRIBUTION = 500
"""How many characters an attribution has."""
COLONS = (":", "\uff1a")
VERBS = re.compile(
    r"\b(?:wrote|writes|quoting|schrieb|schreibt|geschrieben|écrit|escribi[oó]|escreveu|ha scritto|scrisse|schreef"
    r"|skrev|het volgende geschreven|kirjoitti|napisał(?:\(a\)|a)?|pisze|napsala?|napísala?|írta|пишет|написала?"
    r"|yazd\u0131|έγραψε|a scris|je napisa[ol]|rašė|kirjutas|نوشت|zitat von)\b"
    r"|写道|寫道|書きました|のメール|님이 작성|작성",
    re.IGNORECASE,
)
"""The verb of an attribution, such as ``wrote`` in ``On Friday, bob wrote:``."""
FRAMED = re.compile(r"-{4,} ?[^-].*: ?-{4,}")
"""An attribution between hyphens, such as ``---- On Fri, 3 May 2024, bob wrote: ----``."""
URL = re.compile(r"\s*https?://\S+\s*")
"""A line with an address of the web alone, as some footers end."""
BEGINNINGS = re.compile(
    r"(?:on|am|le|el|il|em|a|op|den|d\.|w dniu|dnia|dne|à|pe|ke|ti|to|la|na|mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr"
    r"|sa|so|lun|mar|mer|jeu|ven|sam|dim|lör|sön|fre|tor|tir|ons|man|tis|lør|søn|pon|wt|śr|czw|pt|sob|niedz|po|út|čt|pá"
    r"|ne|در|[\u0430-\u044f]{1,3})\b[.,:]? ?.*\d|\d{1,4}[./年-]|\d{4}년",
    re.IGNORECASE,
)
"""How a whole attribution begins, with a date; one that is broken into lines begins in the first of them.

Examples are ``On Fri, 3 May 2024``, ``Am 3.5.24``, ``2024-05-03`` and ``2024년``.
"""
ON_ONE_LINE = re.compile(r"(.{,500}?[^\d\s][:\uff1a])\s{2,}\S")
"""An attribution, as Yahoo's telephones put it in front of what they quote: ``On Fri, bob wrote:   Your turn.``"""
DATE = re.compile(
    r"(?:19|20)\d\d|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d\d\b|[\u06f0-\u06f9\u0660-\u0669]:[\u06f0-\u06f9\u0660-\u0669]",
    re.ASCII,
)
"""A year, a time or a date: ``2024``, ``10:30``, ``3.5.24``, or a time in the digits of Arabic or Persian."""
BANNER = re.compile(
    r"\s*(?:_{20,}|[-=*\u2010]{3,} ?[^-=*\u2010]{0,40}(?:original|urspr[uü]ngl|origin[ae]l|d['\u2019]origine"
    r"|oorspronkelijk|replied|原邮件|oprindelig|opprinnelig|alkuperäinen|oryginaln|původní|eredeti|исходное|orijinal|forward"
    r"|weitergeleit|transf[ée]r|doorgestuurd|inoltrat|reenviad|encaminhad|vidarebefordra|videresend|välitetty|przekazan|пересыла|原始|转发|轉寄"
    r"|元のメッセージ|원본|izvirn|αρχικό|pôvodn|оригинал|вихідне|מקורית|الأصلية|thư gốc|pesan asli"
    r")(?:[^-=*\u2010]{0,40}| e-mail|-nachricht) ?[-=*\u2010]{3,}|begin forwarded message:"
    r"|anfang der weitergeleiteten nachricht:|début du message réexpédié ?:"
    r"|inizio messaggio inoltrato:|inicio del mensaje reenviado:)\s*",
    re.IGNORECASE,
)
"""A line above a mail that is answered or passed on.

Examples are ``-----Original Message-----``, ``________________________________`` and ``Begin forwarded message:``.
"""
NAMES_OF_FIELDS = {
    "from": """
        from von de da van från fra lähettäjä od от kimden feladó nadawca expéditeur
        发件人 寄件者 差出人 보낸사람 από dela від šalje од từ dari מאת من از nuo no saatja frá daripada
    """,
    "date": """
        sent date gesendet datum envoyé enviado enviada inviato data verzonden skickat sendt lähetetty wysłano
        fecha odesláno отправлено дата gönderme tarih 发送时间 日期 送信日時 日時 보낸날짜 寄件日期 στάλθηκε trimis
        надіслано изпратено odoslané poslano послато đãgửi dikirim נשלח تاريخالإرسال التاريخ تاریخ
        išsiųsta nosūtīts saadetud dihantar
    """,
    "to": """
        to an à para a aan till til vastaanottaja do komu кому kime címzett cc kopie cópia 收件人 宛先 받는사람
        收件者 προς către до за za prima pera đến tới kepada ke אל إلى به kam adressaat saaja
    """,
    "subject": """
        subject betreff objet asunto assunto oggetto onderwerp ämne emne aihe temat předmět тема konu tárgy
        tema 主题 主旨 件名 제목 θέμα subiect относно предмет predmet zadeva chủđề subjek נושא الموضوع موضوع
        tēma teema efni
    """,
}
FIELDS = {word: field for field, words in NAMES_OF_FIELDS.items() for word in words.split()}
FIELD = re.compile(r"[\s*]*([^\W\d_]{1,15}(?: [^\W\d_]{1,12})?)[\s*]*[:\uff1a]")
"""How a line of a header begins within a text: one or two words and a colon, such as ``*From:*`` or ``보낸 사람:``."""
FIELDS_WITHIN = 12
"""In how many lines the header above a mail is looked for."""
MOST_FIELDS = 6
"""How many lines of a header within a text are looked at, without empty ones."""
FEWEST_FIELDS = 3
"""How many fields make a header: people write ``From: Berlin`` and ``To: Rome``, too."""
FOOTER = re.compile(
    r"(?:sent (?:from|via|with|using) \[?(?:my|yahoo|mail|outlook|samsung|proton|aol|gmail|the (?:all[- ]new|samsung)"
    r"|tuta|k-9|spark|bluemail|canary|em client|fairemail|fastmail|hey(?: for|$)|huawei|nine$|spike$|superhuman"
    r"|airmail|aqua mail|mimestream|shortwave|thunderbird|xiaomi|zoho|[^ ]*phone|an? )"
    r"|secured with tuta|get (?:outlook|bluemail) for|von mein\S* .{1,40} gesendet|gesendet (?:mit|von|aus|über) "
    r"|diese nachricht wurde von meinem|(?:holen sie sich )?outlook für (?:ios|android)"
    r"|envoyé (?:de(?:puis)? |à partir d|avec )"
    r"|télécharger? outlook|obtenez outlook|enviado (?:desde|do|con el correo|com o e-mail|a partir do) "
    r"|obtener outlook|obter o outlook|inviato (?:dal?|con l.e-?mail) |scarica outlook"
    r"|verstuurd (?:van(?:af|uit)|met|via)|verzonden (?:van(?:af|uit)|met)|outlook voor"
    r"|skickat (?:från|med)|hämta outlook|sendt fra|hent outlook|få outlook"
    r"|lähetetty |wysłan[eo] (?:z|za) |odesláno z|odoslané z|poslano (?:z|iz|s) |отправлено (?:\u0441|из)"
    r"|надіслано \u0437|trimis de pe |elküldve az |enviat des del? |εστάλη από |\S{1,20}mdan gönderildi|dikirim dari "
    r"|được gửi từ |נשלח מ|تم الإرسال من |ارسال شده از |ส่งจาก"
    r"|나의 .{1,20}에서 보냄|从我的 ?.{1,20}发送|发自我的|傳送自我的|從我的 ?.{1,20}傳送"
    r"|.{1,20}から送信|please excuse (?:my )?(?:brevity|typos)|yahoo mail: |virus-free|virenfrei"
    r"|bitte entschuldigen sie (?:die|meine) kürze)",
    re.IGNORECASE,
)
"""The beginning of a line that a telephone puts under a mail, such as ``Sent from my iPhone``."""
LABEL = (
    r"[\W_]*(?:(?:caution|warning|attention|notice|alert|important|achtung|vorsicht|warnung|hinweis|wichtig"
    r"|avertissement|mise en garde|prudence|atención|precaución|advertencia|aviso|cuidado|let op|opgelet|waarschuwing"
    r"|voorzichtig|attenzione|avviso|avvertenza|cautela|atenção|alerta|extern(?:al|e[rns]?|o|a)?|estern[oa]|e-?mail|mail"
    r"|message|sender|nachricht|absender|courriel|expéditeur|correo|electrónico|mensaje|remitente|bericht|afzender"
    r"|messaggio|mittente|mensagem|remetente)\b[\W_]*){0,6}"
)
"""What a warning begins with, or all of it, such as ``[EXTERNAL EMAIL]``."""
ADVICE = (
    r"(?:do not|don['\u2019]t|please|be|use|exercise|from outside|bitte|klicken|öffnen|seien|von außerhalb|ne cliquez"
    r"|n['\u2019]ouvrez|veuillez|soyez|no haga|no abra|tenga|por favor|non (?:fare|cliccare|aprire)|fare|prestare"
    r"|si prega|klik|open|wees|não (?:clique|abra)|tenha|seja"
    r"|(?:with|bei|avec|con|met|com) (?:links?|liens|enlaces|anhängen|anexos|adjuntos|bijlagen|allegati))\b"
)
OUTSIDE = (
    r"\b(?:outside|external|extern(?:e[rsn]?)?|außerhalb|ausserhalb|ext[eé]rieure?|externo|externa|fuera|fora|buiten"
    r"|estern[oa])\b"
)
ORGANIZATION = (
    r"\b(?:organi[sz]ation|company|firm|network|university|firma|unternehmens?|hauses|netzwerks?|société|entreprise"
    r"|organización|empresa|organizzazione|azienda|organisatie|bedrijf|organização|rede|red|rete|netwerk|réseau)\b"
)
ORIGIN = r"\b(?:sender|source|absendern?|quelle|expéditeur|remitente|mittente|afzender|bron|remetente|fuente|fonte)\b"
THIS_MAIL = (
    r"(?:this|diese|cet?|est[ea]|dit|deze|quest[ao])\b.{0,20}\b"
    r"(?:e-?mail|mail|message|nachricht|courriel|correo|mensaje|bericht|messaggio|mensagem)\b"
)
SENT = r"(?:\s+(?:gesendet|versandt|verschickt|sent|received|envoyé|enviad[oa]|inviat[oa]|verzonden|gestuurd))?"
END_OF_SENTENCE = r"\W*(?:$|[.!:]\s)"
WARNING = re.compile(
    rf"{LABEL}{THIS_MAIL}.{{0,80}}{OUTSIDE}.{{0,40}}{ORGANIZATION}{SENT}{END_OF_SENTENCE}"
    rf"|{LABEL}{THIS_MAIL}.{{0,80}}(?:{OUTSIDE}\W+{ORIGIN}|{ORIGIN}\W+{OUTSIDE}|untrusted sender|unknown sender)"
    rf"{SENT}{END_OF_SENTENCE}"
    rf"|(?=\W*\w){LABEL}(?<=\W){THIS_MAIL}.{{0,80}}{OUTSIDE}(?:\s+[\w.&'\u2019-]+){{0,6}}?\W*(?:$|[.!:]\s+{ADVICE})"
    rf"|(?=\W*\w){LABEL}(?<=\W)(?:from|von|de|van|da|di)\b.{{0,10}}{OUTSIDE}.{{0,20}}{ORGANIZATION}"
    rf"|(?=.{{0,60}}\be[xs]tern){LABEL}(?:$|{ADVICE})",
    re.IGNORECASE,
)
"""The beginning of a warning that a mail server puts above a mail from elsewhere, without the ends of its lines.

An example of each alternative:

- ``CAUTION: This email originated from outside of the organization.``
- ``This message was sent by an external sender.``
- ``[WARNING] This mail is from outside Acme Ltd. Do not click links``
- ``WARNING: from outside our organization``
- ``[EXTERNAL EMAIL]``, and ``External email: Use caution with links``
"""
OF_WARNING = re.compile(
    r"\b(?:links?|attachments?|sender|organi[sz]ation|company|suspicious|phish\w*|unless|safe|caution|learn why"
    r"|aka\.ms|anhänge?n?|absenders?|inhalt|sicher|klicken|expéditeur|liens?|pièces jointes|contenu|sûr|cliquez"
    r"|adjuntos|remitente|enlaces|vínculos|contenido|seguro|bijlagen|afzender|koppelingen|inhoud|veilig|allegati"
    r"|mittente|collegamenti|contenuto|sicuro|anexos|remetente|conteúdo)\b",
    re.IGNORECASE,
)
"""A word of a further line of a warning."""
FROM_OUTSIDE = re.compile(rf"\W*{THIS_MAIL}.{{0,80}}{OUTSIDE}", re.IGNORECASE)
"""What may stand below the title of a warning, if it has none of the words of OF_WARNING."""
FIRST_CONTACT = re.compile(
    r"(?=[^@]{0,160}\b(?:don['\u2019]t|not|nicht|keine|pas|no|non|niet|geen|não)\b)[^@]{2,160}?"
    r"\b(?:often|oft|häufig|souvent|suelen?|menudo|frecuencia|spesso|vaak|costumam?|frequência|frequentemente)\b[^@]{0,80}\b(?:from|von|de|da|van)\s\S{1,80}@\S{3,160}\s[^@]{0,120}?"
    r"(?:\b(?:why|warum|pourquoi|por ?qu[eé]|perch[eé]|waarom)\b|aka\.ms)[^\n]*"
    r"(?:\n(?:[^\n]{1,80}\n)?[^\n]*\baka\.ms/[^\n]*"
    r"|\n[^\n]{0,60}\b(?:important|wichtig ist|importante|belangrijk is)\W*(?=\n|$))?",
    re.IGNORECASE,
)
"""What Outlook puts above a mail of somebody who rarely writes: their address, and a link that says why.

An example is ``You don't often get email from bob@example.org. Learn why this is important``, which may go on with
``https://aka.ms/LearnAboutSenderIdentification`` in the next line.
"""
BANNER_START = re.compile(r"\b\w{0,40}BannerStart\b")
BANNER_END = re.compile(r"\b\w{0,40}BannerEnd\b")
"""The marks of Proofpoint around a warning."""
END_OF_PREVIEW = re.compile(r"\b\w{0,40}PreheaderEnd\b")
"""The mark of Proofpoint behind a preview of the text, which may stand above the warning."""
RULED = re.compile(r"\s*|\s*[-=_*#]{3,}\s*")
"""A line without words."""
MOST_OF_WARNING = 12
"""How many lines a warning has."""
LONGEST_FOOTER = 120
"""How many characters a line has that a telephone puts under a mail."""
MOST_OF_SIGNATURE = 4
"""How many lines a signature has, if nothing else tells it from a text."""
LONGEST_IN_SIGNATURE = 72
"""How many characters each of these lines has."""


def own(text: str) -> str:
    """A text without quotations and their attributions, the signature, and what telephones put under it."""
    lines = _without_warning([visible(line) for line in _of_armour(_without_banner(text)).split("\n")])
    if not lines:
        return ""  # there was nothing but a warning
    filled = [number for number, line in enumerate(lines) if line.strip()]
    last = filled[-1] if filled else 0
    ends_with_help = own_mails.HELP.fullmatch(lines[last].strip()) is not None
    end_of_refusal = max((number for number, line in enumerate(lines) if own_mails.OF_REFUSAL.match(line)), default=-1)
    kept: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]

        # ">>> On Friday, bob wrote:" is the heading of a quotation, or of all that follows.
        if line.startswith(">>>") and (heading_length := _length_of_heading(lines, index)):
            index += heading_length
            if not _first_filled(lines, index, index + MOST_BETWEEN).startswith(">"):
                break
            continue

        if line.startswith(">"):
            _drop_attribution(kept)
            while index < len(lines) and lines[index].startswith(">"):
                index += 1
            # The end of one of our refusals, which quotes the command that it refuses.
            if ends_with_help and not _first_filled(lines, index, last):
                _drop_reason(kept)
                break
            continue

        if _begins_original(lines, index):
            break
        # One of our refusals that shows a board.
        if index < end_of_refusal and own_mails.STATUS.fullmatch(line):
            _drop_reason(kept)
            break
        kept.append(line)
        index += 1
    return "\n".join(_without_footers(_without_signature(kept))).strip("\n")


def _first_filled(lines: Sequence[str], start: int, end: int) -> str:
    """The first line from *start* up to *end* that is not blank; empty if all are. It copies no lines."""
    numbers = range(start, min(end, len(lines)))
    return next((lines[number] for number in numbers if lines[number].strip()), "")


def visible(line: str) -> str:
    """A line without invisible characters around it; a line of hyphens and blanks has none between them, either."""
    shown = line.translate(BETWEEN_WORDS)
    if set(shown) <= {"-", " "}:
        return shown
    return line.translate(VISIBLE_BLANKS).strip(INVISIBLE_LETTERS)


def lone_quotation(text: str) -> str:
    """The first line of a text without its angle bracket, if that line alone is a quotation; empty if it is not."""
    first, _, rest = text.lstrip().partition("\n")
    below = rest.partition("\n")[0]
    quoted = first.removeprefix(">").strip()
    if not first.startswith(">") or quoted.startswith(">") or below.strip():
        return ""
    return quoted


def _without_banner(text: str) -> str:
    """A text without a warning of Proofpoint, and without the preview of the text that may stand above it."""
    start = BANNER_START.search(text)
    if start is None:
        return text
    end = BANNER_END.search(text, start.end())
    if end is None:
        return text
    above = END_OF_PREVIEW.sub("", text[: start.start()])
    below = text[end.end() :]
    letters_above = re.sub(r"\W", "", above)
    letters_below = re.sub(r"\W", "", below)
    if letters_below.startswith(letters_above):
        return below  # what stands above is the preview, or nothing
    return f"{above}{below}"


def _without_warning(lines: list[str]) -> list[str]:
    """The lines below a warning that a mail server has put above a mail, such as ``[EXTERNAL]``."""
    end = 0  # of the warning; 0 as long as there is none
    index = 0
    while index < min(len(lines), MOST_OF_WARNING):
        if RULED.fullmatch(lines[index]):
            index += 1
            continue
        count = _length_of_warning(lines, index)
        if not count and end and _is_of_warning(lines[index], is_joined=index == end):
            count = 1
        if not count:
            break
        index += count
        end = index
    while 0 < end < len(lines) and RULED.fullmatch(lines[end]):
        end += 1
    return lines[end:]


def _is_of_warning(line: str, *, is_joined: bool) -> bool:
    """Whether a line goes on with a warning above it. Below an empty line, somebody may speak of a link, too."""
    words = {word.lower() for word in OF_WARNING.findall(line)}
    if is_joined:
        return bool(words) or FROM_OUTSIDE.match(line) is not None
    return len(words) > 1


def _length_of_warning(lines: Sequence[str], index: int) -> int:
    """How many of the first lines begin a warning, which a mail program may have broken; 0 if they do not."""
    near = "\n".join(lines[index : index + 4])  # the sentence in two lines, a line next to the link, and the link
    if contact := FIRST_CONTACT.match(near[: 2 * LONGEST_ATTRIBUTION]):
        return contact[0].count("\n") + 1
    for count in (1, 2):
        if WARNING.match(" ".join(lines[index : index + count])[:LONGEST_ATTRIBUTION]):
            return count
    return 0


def _of_armour(text: str) -> str:
    """A text without the lines that PGP has put around what it has signed (RFC 9580, 7)."""
    above, begin, signed = f"\n{text}".partition("\n-----BEGIN PGP SIGNED MESSAGE-----")
    if not begin:
        return text
    below_fields = "\n" + re.split(r"\n\s*\n", f"{signed}\n\n", maxsplit=1)[1]  # such as ``Hash: SHA256``
    signed_text = below_fields.partition("\n-----BEGIN PGP SIGNATURE")[0]
    return above + signed_text.replace("\n- ", "\n")  # it is put in front of a line that begins with a hyphen


def _drop_attribution(kept: list[str]) -> None:
    """Drop the attribution at the end of the lines that are kept, just above a quotation."""
    nearest = range(len(kept), max(0, len(kept) - MOST_BETWEEN - 1), -1)
    end = next((end for end in nearest if kept[end - 1].strip()), 0)
    if end == 0:
        return
    candidates = range(1, min(end, MOST_OF_ATTRIBUTION) + 1)  # numbers of lines above *end*, in one paragraph
    counts = list(takewhile(lambda count: kept[end - count].strip(), candidates))
    whole = [count for count in counts if _is_attribution(" ".join(kept[end - count : end]))]
    if whole:
        # the best sign of where it begins counts; without one it is as short as it can be
        begun = [count for count in whole if BEGINNINGS.match(kept[end - count].lstrip(" \t-"))]
        complete = [count for count in whole if _is_complete(kept[end - count : end])]
        length = (begun or complete or whole)[0]
        del kept[end - length :]
    elif kept[end - 1].rstrip().endswith(COLONS) and VERBS.search(kept[end - 1]):
        del kept[end - 1 :]  # just before a quotation it is enough that somebody wrote something


def _drop_reason(kept: list[str]) -> None:
    """Drop the reason of one of our refusals at the end of the lines that are kept, but never what is typed first.

    It is a paragraph, and another one above each that is indented, which is the syntax of a command.
    """
    first = next((number for number, line in enumerate(kept) if line.strip()), 0) + 1
    end = len(kept)
    is_reason = True
    while is_reason and end > first:
        while end > first and not kept[end - 1].strip():
            end -= 1
        is_syntax = kept[end - 1].startswith("  ")
        while end > first and kept[end - 1].strip():
            end -= 1
        last_above = next((line for line in reversed(kept[first:end]) if line.strip()), "")
        is_reason = is_syntax or last_above.startswith("  ")
    del kept[end:]


def _begins_original(lines: Sequence[str], index: int) -> bool:
    """Whether the rest of the lines is a mail that was answered, not marked as a quotation line by line."""
    line = lines[index]
    if BANNER.fullmatch(line[:LONGEST_ATTRIBUTION]) or own_mails.is_beginning(lines[index : index + 4]):
        return True
    if _field(line) in {"from", "date"}:
        header = [line for line in lines[index : index + FIELDS_WITHIN] if line.strip()][:MOST_FIELDS]
        fields = set(filter(None, map(_field, header)))
        if "from" in fields and len(fields) >= FEWEST_FIELDS:
            return True
    if (beside := ON_ONE_LINE.match(line)) and _is_complete([beside[1]]) and VERBS.search(beside[1]):
        return True

    # An attribution, in one line or more.
    is_begun = BEGINNINGS.match(line.lstrip(" \t-")[:LONGEST_ATTRIBUTION]) or FRAMED.fullmatch(line.strip())
    begins = is_begun or "@" in line
    if not begins and not DATE.search(line):
        return False
    paragraph = list(takewhile(str.strip, lines[index : index + MOST_OF_ATTRIBUTION]))
    ends = []
    for count in range(1, len(paragraph) + 1):
        part = paragraph[:count]
        if _is_attribution(" ".join(part)) and (begins or _is_complete(part)):
            ends.append(index + count)
    # Above lines with angle brackets, `own` drops it, and goes on below these.
    is_marked = any(_first_filled(lines, end, len(lines)).startswith(">") for end in ends)
    return bool(ends) and not is_marked


def _length_of_heading(lines: Sequence[str], index: int) -> int:
    """How many lines, behind or between ``>>>``, say who wrote the text that follows; 0 if they do not say so."""
    for count in (1, 2):
        joined = " ".join(lines[index : index + count])[:LONGEST_ATTRIBUTION].rstrip()
        is_closed = joined.endswith(">>>") and (DATE.search(joined) or "@" in joined)
        if is_closed or _is_attribution(joined.removeprefix(">>>")):
            return count
    return 0


def _is_attribution(text: str) -> bool:
    """Whether a text says who wrote what follows, and when or from which address."""
    is_framed = text.lstrip().startswith("--") and text.rstrip().endswith("--")
    if len(text) > LONGEST_ATTRIBUTION or not (is_framed or text.rstrip().endswith(COLONS)):
        return False
    has_verb = VERBS.search(text) is not None
    if has_verb and FRAMED.fullmatch(text.strip()):
        return True
    has_date = DATE.search(text) is not None
    has_address = "@" in text
    return (has_date and has_address) or (has_verb and (has_date or has_address))  # two of the three


def _is_complete(lines: Sequence[str]) -> bool:
    """Whether an attribution has a date and an address, and can be one line that a mail program had to break."""
    for line, below in pairwise(lines):
        if below.strip() and len(f"{line} {below.split()[0]}") <= NARROWEST:
            return False  # there was room for another word
    text = " ".join(lines)
    return "@" in text and DATE.search(text) is not None


def _field(line: str) -> str | None:
    """The field of a header with which a line begins, in any language, such as ``from`` for ``Von: bob``."""
    name = FIELD.match(line[:80])
    if name is None:
        return None
    return FIELDS.get(name[1].lower().replace(" ", ""))


def _without_signature(lines: list[str]) -> list[str]:
    """The lines above a signature, which begins with two hyphens and a blank. With nothing below, these are the pass.

    If the blank was lost, a signature is a few short lines below the hyphens, with a text above them.
    """
    if "-- " in lines:
        begin = lines.index("-- ")
        if _first_filled(lines, begin + 1, len(lines)):
            return lines[:begin]
        return lines[:begin] + ["--"]
    count = 0  # of the lines of the signature that are not empty
    for number in reversed(range(len(lines))):
        line = lines[number]
        if line == "--":
            if count and _first_filled(lines, 0, number):
                return lines[:number]
            return lines
        if line.strip():
            count += 1
        if count > MOST_OF_SIGNATURE or len(line) > LONGEST_IN_SIGNATURE:
            break
    return lines


def _without_footers(lines: list[str]) -> list[str]:
    """The lines above what telephones put under a mail, which may end with the address of a page."""

    def is_footer(number: int) -> bool:
        if number < 0 or len(lines[number]) > LONGEST_FOOTER:
            return False
        return FOOTER.match(lines[number].strip()) is not None

    def is_link_of_footer(number: int) -> bool:
        return URL.fullmatch(lines[number]) is not None and is_footer(number - 1)

    end = len(lines)
    while end > 0 and (not lines[end - 1].strip() or is_footer(end - 1) or is_link_of_footer(end - 1)):
        end -= 1
    return lines[:end]
