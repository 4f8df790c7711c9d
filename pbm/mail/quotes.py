"""The part of a mail's text that its writer wrote, without what mail programs add: quotations, signatures, footers.

A line is cut only for the marks of mail programs, never for what it says; so no move is cut.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from pbm.letters import headings
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
"""The verb of an attribution."""
FRAMED = re.compile(r"-{4,} ?[^-].*: ?-{4,}")
"""An attribution between hyphens."""
URL = re.compile(r"\s*https?://\S+\s*")
"""A line with an address of the web alone, as some footers end."""
BEGINNINGS = re.compile(
    r"(?:on|am|le|el|il|em|a|op|den|d\.|w dniu|dnia|dne|à|pe|ke|ti|to|la|na|mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr"
    r"|sa|so|lun|mar|mer|jeu|ven|sam|dim|lör|sön|fre|tor|tir|ons|man|tis|lør|søn|pon|wt|śr|czw|pt|sob|niedz|po|út|čt|pá"
    r"|ne|در|[\u0430-\u044f]{1,3})\b[.,:]? ?.*\d|\d{1,4}[./年-]|\d{4}년",
    re.IGNORECASE,
)
"""How a whole attribution begins, with a date; one that is broken into lines begins in the first of them."""
ON_ONE_LINE = re.compile(r"(.{,500}?[^\d\s][:\uff1a])\s{2,}\S")
"""An attribution, as Yahoo's telephones put it in front of what they quote."""
DATE = re.compile(
    r"(?:19|20)\d\d|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d\d\b|[\u06f0-\u06f9\u0660-\u0669]:[\u06f0-\u06f9\u0660-\u0669]",
    re.ASCII,
)
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
"""A line above a mail that is answered or passed on."""
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
"""The beginning of a line that a telephone puts under a mail."""
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
"""The beginning of a warning that a mail server puts above a mail from elsewhere, but for the ends of its lines."""
OF_WARNING = re.compile(
    r"\b(?:links?|attachments?|sender|organi[sz]ation|company|suspicious|phish\w*|unless|safe|caution|learn why"
    r"|aka\.ms|anhänge?n?|absenders?|inhalt|sicher|klicken|expéditeur|liens?|pièces jointes|contenu|sûr|cliquez"
    r"|adjuntos|remitente|enlaces|vínculos|contenido|seguro|bijlagen|afzender|koppelingen|inhoud|veilig|allegati"
    r"|mittente|collegamenti|contenuto|sicuro|anexos|remetente|conteúdo)\b",
    re.IGNORECASE,
)
"""A word of a further line of a warning."""
FROM_OUTSIDE = re.compile(rf"\W*{THIS_MAIL}.{{0,80}}{OUTSIDE}", re.IGNORECASE)
"""What may stand below the title of a warning, without a word of these."""
FIRST_CONTACT = re.compile(
    r"(?=[^@]{0,160}\b(?:don['\u2019]t|not|nicht|keine|pas|no|non|niet|geen|não)\b)[^@]{2,160}?"
    r"\b(?:often|oft|häufig|souvent|suelen?|menudo|frecuencia|spesso|vaak|costumam?|frequência|frequentemente)\b[^@]{0,80}\b(?:from|von|de|da|van)\s\S{1,80}@\S{3,160}\s[^@]{0,120}?"
    r"(?:\b(?:why|warum|pourquoi|por ?qu[eé]|perch[eé]|waarom)\b|aka\.ms)[^\n]*"
    r"(?:\n(?:[^\n]{1,80}\n)?[^\n]*\baka\.ms/[^\n]*"
    r"|\n[^\n]{0,60}\b(?:important|wichtig ist|importante|belangrijk is)\W*(?=\n|$))?",
    re.IGNORECASE,
)
"""What Outlook puts above a mail of somebody who has seldom written: their address, and a link that says why."""
BANNER_START = re.compile(r"\b\w{0,40}BannerStart\b")
BANNER_END = re.compile(r"\b\w{0,40}BannerEnd\b")
"""The marks of Proofpoint around a warning."""
END_OF_PREVIEW = re.compile(r"\b\w{0,40}PreheaderEnd\b")
"""Its mark behind a preview of the text, which may stand above the warning."""
RULED = re.compile(r"\s*|\s*[-=_*#]{3,}\s*")
"""A line without words."""
MOST_OF_WARNING = 12
"""How many lines a warning has."""
LONGEST_FOOTER = 120
"""How many characters a line has that a telephone puts under a mail."""
MOST_OF_SIGNATURE, LONGEST_IN_SIGNATURE = 4, 72
"""How many lines a signature has, and how many characters each line, if nothing else tells it from a text."""


def own(text: str) -> str:
    """A text without quotations and their attributions, the signature, and what telephones put under it."""
    lines = _without_warning([visible(line) for line in _of_armour(_without_banner(text)).split("\n")])
    last = max((at for at, line in enumerate(lines) if line.strip()), default=0)
    ends_with_help = headings.HELP.fullmatch(lines[last].strip()) is not None
    end_of_refusal = max((at for at, line in enumerate(lines) if headings.OF_REFUSAL.match(line)), default=-1)
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(">>>") and (heading := _length_of_heading(lines, at)):
            at += heading
            following = next((one for one in lines[at : at + MOST_BETWEEN] if one.strip()), "")
            if not following.startswith(">"):
                break
            continue
        if line.startswith(">"):
            _drop_attribution(kept)
            while at < len(lines) and lines[at].startswith(">"):
                at += 1
            if ends_with_help and not any(lines[below].strip() for below in range(at, last)):
                _drop_reason(kept)
                break
            continue
        if _begins_original(lines, at):
            break
        if at < end_of_refusal and headings.STATUS.fullmatch(line):
            _drop_reason(kept)
            break
        kept.append(line)
        at += 1
    return "\n".join(_without_footers(_without_signature(kept))).strip("\n")


def visible(line: str) -> str:
    """A line without invisible characters around it; a line of hyphens and blanks has none between them, either."""
    seen = line.translate(BETWEEN_WORDS)
    return seen if set(seen) <= {"-", " "} else line.translate(VISIBLE_BLANKS).strip(INVISIBLE_LETTERS)


def lone_quotation(text: str) -> str:
    """The first line of a text without its angle bracket, if that line alone is a quotation; empty if it is not."""
    line, below, *_ = [*text.lstrip().split("\n", 2), ""]
    quoted = line.removeprefix(">").strip()
    is_alone = line.startswith(">") and not quoted.startswith(">") and not below.strip()
    return quoted if is_alone else ""


def _without_banner(text: str) -> str:
    """A text without a warning of Proofpoint, and without the preview of the text that may stand above it."""
    start = BANNER_START.search(text)
    end = BANNER_END.search(text, start.end()) if start else None
    if start is None or end is None:
        return text
    above = END_OF_PREVIEW.sub("", text[: start.start()])
    below = text[end.end() :]
    letters_above = re.sub(r"\W", "", above)
    if re.sub(r"\W", "", below).startswith(letters_above):
        return below
    return f"{above}{below}"


def _without_warning(lines: list[str]) -> list[str]:
    """The lines below a warning that a mail server has put above a mail, such as ``[EXTERNAL]``."""
    end = 0
    at = 0
    while at < min(len(lines), MOST_OF_WARNING):
        if RULED.fullmatch(lines[at]):
            at += 1
            continue
        count = _length_of_warning(lines, at)
        if end and not count:
            count = int(_is_of_warning(lines[at], is_joined=at == end))
        if not count:
            break
        at += count
        end = at
    while 0 < end < len(lines) and RULED.fullmatch(lines[end]):
        end += 1
    return lines[end:]


def _is_of_warning(line: str, *, is_joined: bool) -> bool:
    """Whether a line goes on with a warning above it. Below an empty line, somebody may speak of a link, too."""
    words = {word.lower() for word in OF_WARNING.findall(line)}
    if is_joined:
        return bool(words) or FROM_OUTSIDE.match(line) is not None
    return len(words) > 1


def _length_of_warning(lines: Sequence[str], at: int) -> int:
    """How many lines, one or more of which a mail program has broken, begin a warning; 0 if they do not."""
    if contact := FIRST_CONTACT.match("\n".join(lines[at : at + 4])[: 2 * LONGEST_ATTRIBUTION]):
        return contact[0].count("\n") + 1
    for count in (1, 2):
        if WARNING.match(" ".join(lines[at : at + count])[:LONGEST_ATTRIBUTION]):
            return count
    return 0


def _of_armour(text: str) -> str:
    """A text without the lines that PGP has put around what it has signed (RFC 9580, 7)."""
    above, begin, signed = f"\n{text}".partition("\n-----BEGIN PGP SIGNED MESSAGE-----")
    behind_fields = "\n" + re.split(r"\n\s*\n", f"{signed}\n\n", maxsplit=1)[1]
    said = behind_fields.partition("\n-----BEGIN PGP SIGNATURE")[0]
    return above + said.replace("\n- ", "\n") if begin else text


def _drop_attribution(kept: list[str]) -> None:
    """Drop the attribution at the end of the lines that are kept, just above a quotation."""
    nearest = range(len(kept), max(0, len(kept) - MOST_BETWEEN - 1), -1)
    filled = next((end for end in nearest if kept[end - 1].strip()), 0)
    counts = list(takewhile(lambda count: kept[filled - count].strip(), range(1, min(filled, MOST_OF_ATTRIBUTION) + 1)))
    whole = [count for count in counts if _is_attribution(" ".join(kept[filled - count : filled]))]
    begun = [count for count in whole if BEGINNINGS.match(kept[filled - count].lstrip(" \t-"))]
    complete = [count for count in whole if _is_complete(kept[filled - count : filled])]
    if whole:
        del kept[filled - (begun or complete or whole)[0] :]
    elif counts and kept[filled - 1].rstrip().endswith(COLONS) and VERBS.search(kept[filled - 1]):
        del kept[filled - 1 :]  # just before a quotation it is enough that somebody wrote something


def _drop_reason(kept: list[str]) -> None:
    """Drop the reason of a refusal of ours at the end of the lines that are kept, but never what is typed first.

    It is a paragraph, and another one above each that is indented, which is the syntax of a command.
    """
    first = next((at for at, line in enumerate(kept) if line.strip()), 0) + 1
    end = len(kept)
    is_reason = True
    while is_reason and end > first:
        while end > first and not kept[end - 1].strip():
            end -= 1
        is_syntax = kept[end - 1].startswith("  ")
        while end > first and kept[end - 1].strip():
            end -= 1
        above = next((line for line in reversed(kept[first:end]) if line.strip()), "")
        is_reason = is_syntax or above.startswith("  ")
    del kept[end:]


def _begins_original(lines: Sequence[str], at: int) -> bool:
    """Whether the rest of the lines is a mail that was answered, not marked as a quotation line by line."""
    line = lines[at]
    if BANNER.fullmatch(line[:LONGEST_ATTRIBUTION]) or headings.is_beginning(lines[at : at + 4]):
        return True
    if _field(line):
        found = set(filter(None, map(_field, [one for one in lines[at : at + 12] if one.strip()][:6])))
        if _field(line) in {"from", "date"} and "from" in found and len(found) >= 3:
            return True
    if (beside := ON_ONE_LINE.match(line)) and _is_complete([beside[1]]) and VERBS.search(beside[1]):
        return True
    is_begun = BEGINNINGS.match(line.lstrip(" \t-")[:LONGEST_ATTRIBUTION]) or FRAMED.fullmatch(line.strip())
    begins = is_begun or "@" in line
    if not begins and not DATE.search(line):
        return False
    paragraph = list(takewhile(str.strip, lines[at : at + MOST_OF_ATTRIBUTION]))
    parts = [paragraph[:count] for count in range(1, len(paragraph) + 1)]
    whole = [part for part in parts if _is_attribution(" ".join(part)) and (begins or _is_complete(part))]
    below = (next((lines[n] for n in range(at + len(part), len(lines)) if lines[n].strip()), "") for part in whole)
    return bool(whole) and not any(line.startswith(">") for line in below)


def _length_of_heading(lines: Sequence[str], at: int) -> int:
    """How many lines, behind or between ``>>>``, say who wrote the text that follows; 0 if they do not say so."""
    for count in (1, 2):
        joined = " ".join(lines[at : at + count])[:LONGEST_ATTRIBUTION].rstrip()
        is_closed = joined.endswith(">>>") and (DATE.search(joined) or "@" in joined)
        if is_closed or _is_attribution(joined.removeprefix(">>>")):
            return count
    return 0


def _is_attribution(text: str) -> bool:
    """Whether a text says who wrote what follows, and when or from which address."""
    is_framed = text.lstrip().startswith("--") and text.rstrip().endswith("--")
    if len(text) > LONGEST_ATTRIBUTION or not (is_framed or text.rstrip().endswith(COLONS)):
        return False
    if FRAMED.fullmatch(text.strip()) and VERBS.search(text):
        return True
    has_date, has_address = DATE.search(text) is not None, "@" in text
    return (has_date and has_address) or ((has_date or has_address) and VERBS.search(text) is not None)


def _is_complete(lines: Sequence[str]) -> bool:
    """Whether an attribution has a date and an address, and can be one line that a mail program had to break."""
    text = " ".join(lines)
    is_broken = all(len(f"{line} {below.split()[0]}") > NARROWEST for line, below in pairwise(lines) if below.strip())
    return is_broken and "@" in text and DATE.search(text) is not None


def _field(line: str) -> str | None:
    """The field of a header with which a line begins, in any language, such as ``from`` for ``Von: bob``."""
    found = FIELD.match(line[:80])
    return FIELDS.get(found[1].lower().replace(" ", "")) if found else None


def _without_signature(lines: list[str]) -> list[str]:
    """The lines above a signature, which begins with two hyphens and a blank. With nothing below, these are the pass.

    If the blank was lost, a signature is a few short lines below the hyphens, with a text above them.
    """
    if "-- " in lines:
        at = lines.index("-- ")
        is_last = not any(one.strip() for one in lines[at + 1 :])
        return [*lines[:at], "--"] if is_last else lines[:at]
    filled = 0
    for at in reversed(range(len(lines))):
        line = lines[at]
        if line == "--":
            has_text = any(one.strip() for one in lines[:at])
            return lines[:at] if filled and has_text else lines
        filled += bool(line.strip())
        if filled > MOST_OF_SIGNATURE or len(line) > LONGEST_IN_SIGNATURE:
            break
    return lines


def _without_footers(lines: list[str]) -> list[str]:
    """The lines above what telephones put under a mail, which may end with the address of a page."""

    def is_footer(at: int) -> bool:
        return at >= 0 and len(lines[at]) <= LONGEST_FOOTER and FOOTER.match(lines[at].strip()) is not None

    last = len(lines) - 1
    while last >= 0 and (
        not lines[last].strip() or is_footer(last) or (URL.fullmatch(lines[last]) and is_footer(last - 1))
    ):
        last -= 1
    return lines[: last + 1]
