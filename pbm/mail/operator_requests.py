"""What the operator asks for by mail, away from a shell: it is done when the answer to a mail with a code comes back.

From can be forged, so a request alone only causes a mail with a code to the operator's own address. The code stands in
the address for the answer, and counts once, for that request alone.
"""

from collections.abc import Sequence
from datetime import timedelta

import games
from pbm import letters
from pbm.access import tokens
from pbm.access.quotas import most
from pbm.access.tokens import Meaning
from pbm.actions import directing
from pbm.delivery.mail import add_to_outbox
from pbm.letters import Letter, contests
from pbm.mail.reading import Incoming
from pbm.mail.typed import plain_line
from pbm.refusals import Misused, Refused
from pbm.server import Server
from pbm.session import Session
from pbm.texts import one_line

REQUEST_WORDS = frozenset({"status", "tournament"})
"""The first words of what the operator can ask for by mail."""
REQUEST_HOLDS = timedelta(hours=1)
REQUEST_CODE_BYTES = 16
MOST_OF_REQUEST = 200
"""How many characters of a request are read; one that is cut off names no player, and is refused."""
TOURNAMENT_SYNTAX = (
    "`tournament` is written `tournament GAME POOL DIRECTION`; `help tournament` in a shell lists the directions."
)


def request_of(mail: Incoming) -> str:
    """What a mail asks for, if the operator has written it: its subject, or the first line of its text; else empty."""
    for text in (mail.subject, mail.body.lstrip().partition("\n")[0]):
        line_words = one_line(plain_line(text).typed.lower()).split()
        if line_words and line_words[0] in REQUEST_WORDS:
            return " ".join(line_words)[:MOST_OF_REQUEST]
    return ""


def answer_request(server: Server, mail: Incoming) -> str:
    """Mail the operator a code for what their mail asks for, or why it cannot be done. Returns why no mail goes out."""
    line = request_of(mail)
    if not _take(server):
        return f"{most('operator request', 'address')} mails about requests were sent today already"
    try:
        _carry_out(server, line.split(), dry_run=True)
    except Refused as why:
        _mail(server, _refusal(line, str(why)))
        return ""
    code = server.random_bytes(REQUEST_CODE_BYTES).hex()
    number = server.store.trust.store_request(tokens.digest(code), line, server.now())
    text = (
        f"{letters.heading('request', request=line)}\n\n"
        "Nothing is done yet. If you have written that, answer this mail within an hour, with `yes` in the first line. "
        "If you have not, somebody uses your address: do nothing."
    )
    letter = letters.plain_letter(text, subject=f"pbm: {line}", answer="yes")
    _mail(server, letter._replace(reply_to=tokens.request_address(server, number, code)))
    return ""


def carry_out_request(server: Server, mail: Incoming, meaning: Meaning) -> str:
    """Do what was asked for, if the answer with its code says so. Returns why nothing was done; empty if it was."""
    line, made = server.store.trust.request(meaning.number) or ("", server.now())
    first = mail.body.lstrip().partition("\n")[0]
    if first.strip(" .!").lower() != "yes":
        why = "the first line of the answer has to be `yes`."
        if _take(server):
            reply_to = tokens.request_address(server, meaning.number, meaning.code)
            _mail(server, _refusal(line, why)._replace(reply_to=reply_to))
        return why
    server.store.trust.forget_request(meaning.number)
    if made < server.now() - REQUEST_HOLDS:
        why = "this code was mailed more than an hour ago. Please ask once more."
        _mail(server, _refusal(line, why))
        return why
    try:
        with server.store.writing():
            letter = _carry_out(server, line.split(), dry_run=False)
    except Refused as refusal:
        _mail(server, _refusal(line, str(refusal)))
        return str(refusal)
    _mail(server, letter)
    return ""


def _carry_out(server: Server, words: Sequence[str], *, dry_run: bool) -> Letter:
    """Do what was asked for, or only see whether it can be done. Returns the answer. Raises Refused."""
    if words[0] == "status":
        from pbm.actions.status import needed, status_at, status_text  # reads the metadata of the package: 10 ms

        if len(words) > 1:
            raise Misused("`status` stands alone.")
        status = status_at(server.store, server.now())
        lines = [status_text(status)]
        lines += needed(status, server.now())
        return letters.plain_letter("\n".join(lines), subject="pbm status", answer="")
    if len(words) < 3:
        raise Misused(TOURNAMENT_SYNTAX)
    game, pool, *direction = words[1:]
    if not games.exists(game):
        raise Misused(games.unknown(game))
    direction = direction or ["status"]
    session = Session(server, server.operator, is_trusted=False, is_printed=False)
    progress, blocks = directing.direct(session, game, pool, direction, dry_run=dry_run)
    return contests.of_tournament(progress, direction[0], blocks)


def _refusal(line: str, why: str) -> Letter:
    return letters.plain_letter(f"Nothing was done: {why}\n\n  {line}", subject=f"pbm: {line}", answer="")


def _take(server: Server) -> bool:
    """Use up one of the mails that requests cause in a day. Returns False if none is left."""
    return Session(server).take("operator request", address=server.operator or "")


def _mail(server: Server, letter: Letter) -> None:
    """Mail a letter to the operator, not to the sender of the request."""
    add_to_outbox(Session(server), server.operator, letter, reply_to=letter.reply_to)
