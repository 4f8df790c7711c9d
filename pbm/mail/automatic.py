"""What a program has sent: mail that is recorded and never answered.

Some marks are certain. Others are only likely, because mails of some people have them, too. In a mail with a likely
mark, a mistake is not answered. A whole command with the right password, or an answer to a board mail, is done.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from email.message import Message

MOST_HEADER = 20_000
"""How many characters of a header field are read."""
COMMENTED = re.compile(r"[()]|(?:[^()\\]|\\.)+|\\", re.DOTALL)
r"""A parenthesis that begins or ends a comment in a header field, or what stands between two of them.

Of ``bob (at \(home\))`` these are ``bob ``, ``(``, ``at \(home\)`` and ``)``.
"""
PROGRAMS = re.compile(
    "(?:mailer-?daemon|postmaster|(?:no|do[-_.]?not)[-_.]?reply|auto-?reply|autoresponder|bounces?|listserv|majordomo)"
    "|(?:owner-|bounces?[-+]|no[-_.]?reply[-+_.]).*|.*-(?:request|bounces?)|.*[-_.]no[-_.]?reply",
    re.IGNORECASE,
)
"""Local parts of addresses at which nobody reads mail, such as ``no-reply``, ``owner-spiro`` and ``spiro-request``."""
AUTOMATIC_FIELD = re.compile(
    r"x-(?!auto-response-suppress).*auto-?(?:matic-?)?(?:repl|respon|generat|submit|answer).*"
    r"|x-vacation|x-failed-recipients|x-cron-env|x-fc-machinegenerated|x-ms-exchange-generated-message-source"
)
"""The name of a header field that programs write, such as ``x-autoreply`` and ``x-vacation``.

Some people's mails have it, too, with one of DENIALS.
"""
ADDED = {"list-unsubscribe", "list-unsubscribe-post", "list-help"}
"""The fields that relays add to the mails of people, too."""
OF_PROGRAMS = tuple(
    "list- x-otrs- x-rt- x-znuny- x-zammad- x-zendesk- x-freshdesk- x-osticket- x-kayako- x-servicenow- x-jira- "
    "x-redmine- x-bugzilla- x-github- x-gitlab-".split()
)
"""How fields of mailing lists and of programs for tickets begin; ADDED are none of them."""
DENIALS = frozenset({"", "no", "none", "false", "off", "0"})
AUTORESPONDERS = re.compile(r"auto-?(?:respon|repl)|vacation|zendesk|freshdesk|\botrs\b", re.IGNORECASE)
"""What programs that answer call themselves in the fields of NAMING."""
NAMING = "x-mailer", "user-agent", "x-post-messageclass", "delivered-to"
BULK = frozenset({"bulk", "junk", "list", "auto_reply"})
"""The values of Precedence that mark automatic mail."""
ABSENCE = re.compile(
    r"auto(?:matic|mated)?[ -]?(?:reply|response|antwort|svar)|out of (?:the )?office|on vacation"
    r"|away (?:until|till|from (?:the|my) (?:office|e?-?mail))|vacation (?:reply|message|notice|response)"
    r"|automatische antwort|abwesenheit|nicht (?:im (?:büro|haus)|erreichbar)"
    r"|réponse automatique|absence du bureau|respuesta autom[áa]tica|fuera de (?:la )?oficina|risposta automatica"
    r"|fuori (?:sede|ufficio)|resposta autom[áa]tica|automatisch(?:e)? antwoord|afwezig|automatiskt? svar|frånvaro"
    r"|fravær|automaattinen vastaus|poissa toimistosta|odpowiedź automatyczna|automatyczna odpowiedź"
    r"|automatická odpověď|automatikus válasz|автоответ|автоматический ответ|otomatik yan\u0131t|自動(?:返信|応答)"
    r"|自动(?:答复|回复)|자동 회신|undeliver|delivery status notification|returned mail|failure notice"
    r"|r[ăa]spuns automat|[îi]n afara biroului|absent (?:de la|din) birou|automatski odgovor|аутоматски одговор"
    r"|samodejni odgovor|izvan ureda|(?:trả lời|phản hồi) tự động|vắng mặt|ngoài văn phòng|автоматичен отговор"
    r"|извън офиса|(?:תשובה|תגובה|מענה|הודעה) אוטומטית?|מחוץ למשרד|автоматична відповідь|automatická odpoveď"
    r"|αυτόματη απάντηση|automatinis atsakymas|automātiska atbilde|automaatvastus|رد تلقائي|پاسخ خودکار"
    r"|ตอบกลับอัตโนมัติ|balasan otomatis|resposta automàtica",
    re.IGNORECASE,
)
"""What stands in the subject of an answer that a program gives while somebody is away, and of a bounce.

Examples are ``Automatic reply: Re: Spiro Board 101``, ``Abwesenheitsnotiz`` and ``Undelivered Mail Returned``.
"""
PAST = re.compile(
    r"\b(?:was|were|been|had|war|waren|gewesen|hatte|étais|était|été|estuve|estaba|estado|ero|stato|stata|estive|estava"
    r"|geweest|var|varit|vært|været|olin|byłem|byłam|był|была?|yesterday|last week|gestern)\b",
    re.IGNORECASE,
)
"""What stands in a sentence that says that somebody is back, as in ``I was on vacation``."""
RECEIPTS = frozenset(
    phrase.strip()
    for phrase in """
        read, not read, unread, read receipt, return receipt, displayed, deleted, recall, message recall, recalled
        delivered, undelivered, relayed, accepted, declined, tentative, tentatively accepted, canceled, cancelled
        gelesen, nicht gelesen, ungelesen, gelöscht, ungelesen gelöscht, rückruf, zurückgerufen, lesebestätigung
        zugestellt, zugesagt, abgelehnt, abgesagt, mit vorbehalt
        lu, non lu, supprimé, rappel, rappeler, rappelé, remis, accepté, refusé, annulé, confirmation de lecture
        leído, no leído, eliminado, recuperar, recuperación, retirar, entregado, aceptado, aceptada, rechazado
        rechazada, cancelado, cancelada, confirmación de lectura
        letto, letta, non letto, non letta, eliminato, richiamo, richiama, richiamare, ritiro, recapitato, accettato
        accettata, rifiutato, rifiutata, annullato, annullata, conferma di lettura
        gelezen, niet gelezen, ongelezen, verwijderd, intrekken, ingetrokken, terugroepen, terughalen, bezorgd
        geaccepteerd, geweigerd, geannuleerd, leesbevestiging
        lida, lido, não lida, não lido, excluída, recolha, recolher, entregue, aceite, aceito, recusado
        recibo de leitura
        läst, oläst, ej läst, inte läst, återkalla, återkallelse, återkallat, levererat, accepterat, avböjt, läskvitto
        lest, ulest, ikke lest, tilbakekall, tilbakekalling, levert, godtatt, avslått, lesebekreftelse
        læst, ulæst, ikke læst, tilbagekald, tilbagekaldelse, leveret, accepteret, afvist, kvittering for læsning
        luettu, ei luettu, lukematon, palauta, peruuta, toimitettu, hyväksytty, hylätty, lukukuittaus
        przeczytano, przeczytane, nieprzeczytane, nie przeczytano, odwołanie, odwołaj, wycofaj, dostarczono
        zaakceptowano, odrzucono, potwierdzenie odczytu
        přečteno, přečtené, nepřečteno, nepřečtené, odvolání, doručeno, přijato, odmítnuto
        prečítané, neprečítané, odvolanie, doručené, citit, necitit, rechemare, retragere, livrat
        olvasva, elolvasva, olvasott, olvasatlan, visszahívás, kézbesítve, elfogadva, elutasítva
        прочитано, не прочитано, непрочитано, прочтено, не прочтено, отзыв, отозвано, доставлено, принято, отклонено
        відкликання, прочетено, непрочетено, αναγνώστηκε, διαβάστηκε, δεν διαβάστηκε, ανάκληση
        okundu, okunmad\u0131, geri çek, geri çağ\u0131rma, teslim edildi, dibaca, tidak dibaca, đã đọc, chưa đọc
        已读, 未读, 已讀, 未讀, 撤回, 召回, 回收, 已送达, 已接受, 已拒绝, 開封済み, 未開封, 開封確認
        取り消し, 回収, 配信済み
        읽음, 읽지 않음, 회수, 배달됨, נקרא, לא נקרא, تمت القراءة, لم تتم القراءة, استدعاء
    """.replace("\n", ",").split(",")
) - {""}
"""What mail programs put in front of a subject when they tell what has become of a mail, or call one back."""
ACKNOWLEDGED = re.compile(
    r"\b(?:request|ticket|case|incident|enquiry|inquiry|issue)\b.{0,40}\b(?:received|created|opened|registered|assigned)\b"
    r"|\b(?:received|got) your (?:support |service )?(?:request|ticket|enquiry|inquiry)\b|\bnew ticket\b"
    r"|\bthank you for contacting\b|\backnowledge?ment\b|\bconfirmation of receipt\b"
    r"|\b(?:anfrage|ticket|vorgang|anliegen)\b.{0,40}\b(?:eingegangen|erhalten|eröffnet|erstellt|angelegt|registriert)\b"
    r"|\b(?:eingangs|empfangs)bestätigung\b"
    r"|\b(?:demande|ticket|requête)\b.{0,40}\b(?:reçue?|enregistrée?|créée?)\b|\baccusé de réception\b"
    r"|\b(?:solicitud|ticket|consulta|incidencia)\b.{0,40}\b(?:recibid[oa]|cread[oa]|registrad[oa])\b"
    r"|\bacuse de recibo\b"
    r"|\b(?:richiesta|ticket|segnalazione)\b.{0,40}\b(?:ricevut[oa]|creat[oa]|registrat[oa]|pres[oa] in carico)\b"
    r"|\b(?:verzoek|ticket|aanvraag|melding)\b.{0,40}\b(?:ontvangen|aangemaakt|geregistreerd)\b|\bontvangstbevestiging\b"
    r"|\b(?:solicitação|pedido|chamado|ticket)\b.{0,40}\b(?:recebid[oa]|criad[oa]|abert[oa]|registad[oa]|registrad[oa])\b"
    r"|\b(?:ärende|henvendelse|förfrågan|sag|sak)\b.{0,40}\b(?:mottag(?:et|its)|mottatt|modtaget|skapats?|op(?:p)?rettet)\b"
    r"|\bzgłoszenie\b.{0,40}\b(?:otrzymane|przyjęte|zarejestrowane|utworzone)\b"
    r"|\b(?:заявка|обращение|запрос)\b.{0,40}\b(?:принят|получен|зарегистрирован|создан)",
    re.IGNORECASE,
)
"""What a program for tickets says of a mail that it got, such as ``Your request [#4711] has been received``."""
OF_TICKETS = re.compile(
    r"\b(?:received|got) your (?:e-?mail|mail|message)\b|\byour (?:support )?(?:request|ticket|enquiry|inquiry)\b"
    r"|\byour (?:e-?mail|mail|message)\b.{0,40}\breceived\b|\bihre (?:anfrage|e-?mail|nachricht|mitteilung)\b"
    r"|\bvotre (?:demande|message|courriel)\b|\bsu (?:solicitud|consulta|mensaje)\b|\bla (?:tua|sua) richiesta\b"
    r"|\b(?:uw|je) (?:aanvraag|verzoek|bericht)\b|\bsua solicitação\b|\bditt ärende\b|\bdin henvendelse\b"
    r"|\b(?:twoje|państwa) zgłoszenie\b|\b(?:ваша заявка|ваше обращение)\b",
    re.IGNORECASE,
)
"""What a program for tickets says in subjects, such as ``We got your message``. In texts, people write that, too."""
DISCLOSED = re.compile(
    r"\bthis (?:is an?|e?-?mail|message|reply) .{0,20}\bautomat(?:ed|ic|ically)\b|\bdo not reply to this\b"
    r"|\bautomatisch (?:generiert|erstellt|erzeugt|versen)|\b(?:message|réponse|courriel) (?:généré )?automatique\b"
    r"|\b(?:mensaje|respuesta|correo) automátic[oa]\b|\b(?:messaggio|risposta) automatic[oa]\b",
    re.IGNORECASE,
)
"""How the text of a program says what it is: ``This is an automated message.``"""
MOST_OF_ACKNOWLEDGEMENT = 500
"""How many characters of a text are searched for an acknowledgement: programs begin with it."""
REACTED = re.compile(
    r"[^\n]{1,100}?(?:\breacted (?:to your message|via gmail)|\bhat auf (?:ihre|deine) nachricht reagiert"
    r"|\ba réagi à (?:votre|ton) message|\b(?:ha reaccionado|reaccionó) a (?:su|tu) mensaje"
    r"|\bha reagito al (?:suo|tuo) messaggio|\bheeft gereageerd op (?:uw|je) bericht|\breagiu à sua mensagem)"
    r"\s*(?:[:\uff1a\n]|\Z)",
    re.IGNORECASE,
)
"""What Outlook writes instead of a text if somebody has tapped on a thumb or a heart below a mail.

An example is ``Bob Miller reacted to your message:``. It ends there, or with a colon. What people write goes on: "Sorry
that I have only now reacted to your message."
"""


def is_automatic(message: Message, fields: Mapping[str, Sequence[str]], envelope_sender: str | None) -> bool:
    """Whether a message has a mark that nothing but a mail of a program has (RFC 3834; RFC 2919 for lists).

    The envelope's sender is empty for a bounce, and None if it is not known.
    """
    return (
        envelope_sender == ""
        or any(word not in {"", "no"} for word in _keywords(fields, "auto-submitted"))
        or not BULK.isdisjoint(_keywords(fields, "precedence"))
        or "<>" in _keywords(fields, "return-path")
        or "list-id" in fields
        or message.get_content_type() == "multipart/report"
    )


def is_probably_automatic(fields: Mapping[str, Sequence[str]], text: str) -> bool:
    """Whether a message has a mark that programs use; mails of some people have one, too."""
    return (
        not BULK.isdisjoint(_keywords(fields, "x-precedence"))
        or any(AUTOMATIC_FIELD.fullmatch(name) and not DENIALS.issuperset(_keywords(fields, name)) for name in fields)
        or any(name.startswith(OF_PROGRAMS) and name not in ADDED for name in fields)
        or any(AUTORESPONDERS.search(value[:MOST_HEADER]) for name in NAMING for value in fields.get(name, ()))
        or REACTED.match(text) is not None
    )


def is_address_of_program(address: str) -> bool:
    """Whether the name of an address says that nobody reads mail there, for example ``no-reply``."""
    return PROGRAMS.fullmatch(address.rpartition("@")[0]) is not None


def is_reaction(parts: Iterable[Message], text: str) -> bool:
    """Whether a mail is only a tap on a thumb or a heart below one of our mails (RFC 9078, and what Gmail sends).

    If it also has a text, it is a mail like any other. A reaction from Gmail never has one.
    """
    kinds = set()
    dispositions = set()
    for part in parts:
        kinds.add(part.get_content_type())
        dispositions.add(part.get_content_disposition())
    if "text/vnd.google.email-reaction+json" in kinds:
        return True
    return "reaction" in dispositions and not text


def is_subject_of_program(subject: str) -> bool:
    """Whether a subject reads like that of a program: somebody is away, a mail was read, a ticket was opened."""
    text = subject[:MOST_HEADER]
    *prefixes, _ = re.split("[]:\uff1a]", text)  # as in ``Read: Re: Spiro Board 101``
    if any(prefix.strip().lower() in RECEIPTS for prefix in prefixes):
        return True
    return any(pattern.search(text) for pattern in (ABSENCE, ACKNOWLEDGED, OF_TICKETS))


def is_text_of_program(text: str) -> bool:
    """Whether a text says that a request was received, or that the mail is automated."""
    begin = text[:MOST_OF_ACKNOWLEDGEMENT]
    return ACKNOWLEDGED.search(begin) is not None or DISCLOSED.search(begin) is not None


def says_absent(text: str) -> bool:
    """Whether a text says that its writer is away now; "I was on vacation" does not."""
    sentences = [" ".join(part.split()) for part in re.split(r"[.!?]|\n\s*\n", text[:MOST_HEADER])]
    return any(ABSENCE.search(sentence) and not PAST.search(sentence) for sentence in sentences)


def _keywords(fields: Mapping[str, Sequence[str]], name: str) -> list[str]:
    """The words of a field with commas between them, in small letters, without comments and parameters."""
    return [
        word.strip(' "\t\r\n').lower()
        for value in fields.get(name, ())
        for word in without_comments(value[:MOST_HEADER]).partition(";")[0].split(",")
    ]


def without_comments(field: str) -> str:
    """A header field without what is written in it for people (RFC 5322, 3.2.2), also in comments within comments."""
    kept: list[str] = []
    begins: list[int] = []
    """Where in *kept* the comments begin that have not ended."""
    for piece in COMMENTED.findall(field):
        if piece == ")" and begins:
            kept[begins.pop() :] = [" "]
            continue
        if piece == "(":
            begins.append(len(kept))
        kept.append(piece)  # also of a comment, which may have no end
    return "".join(kept)
