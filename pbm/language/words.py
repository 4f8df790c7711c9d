"""The grammar of a command line, before the commands themselves are known to be right.

A line is words. Those that start with a hyphen are options, at any place up to the move. The words of a move are taken
as they are: ``-e3,+f6`` is a move of Papagra, ``--`` is the pass. See `pbm help commands`.
"""

import re
from collections.abc import Iterator, Sequence

import games
from pbm.texts import FRONT_OF_CELL, latin

MARK = (
    r"(?:(?:[\[{][^\[\]{}]{1,40}[\]}]|\([^()]{1,40}\)|#\d{1,12}):?"
    r"|\*{2,} ?[^*]{0,20}(?i:spam|junk|extern)[^*]{0,20}\*{2,}"
    r"|([^\W\d_]+(?: [^\W\d_]+)?)\.?(?: ?(?:\[\d+\]|\(\d+\)|[*^]\d+))?\s?[:\uff1a])[ *]*"
)
"""What mail servers put in front of a subject that looks strange to them, such as ``[EXT]``, ``(spam)``, ``#4711:`` and
``*** SPAM ***``; or a word, or two, in front of a colon.
Programs abbreviate that word or count the answers in it: ``Réf. :``, ``RE[2]:``, ``Re(2):``, ``RE^2:``. A bare number
behind it makes no such word: ``i3:5`` is a move of Spiro.
"""
REPLIES = frozenset(
    "re r ref reply fw fwd forward forwarded nag ext extern external spam "
    "aw antwort wg weiterl weitergeleitet weiterleitung antw doorst doorgestuurd "
    "réf rép réponse tr transf transfert transféré rv respuesta reenv reenviado res resposta enc encaminhado "
    "encaminhada i rif ris risp risposta inoltro inoltra inoltrato "
    "sv svar vs vb vl vast vastaus välitetty fs videresend videresendt vidarebefordrat vidarebefordran "
    "odp odpowiedź pd przekaz odpověď odpoveď přeposlat předat preposlané odg odgovor prosl proslij posr "
    "vá válasz továbbítás atb yml ats atsakymas pers pārs edasi ynt yan\u0131t yanit cevap ilt i\u0307lt i\u0307let "
    "bls balas balasan trs terusan απ απάντηση πρθ προώθηση σχετ "
    "отв ответ пересл відп відповідь отг отговор препр одг השב תגובה תשובה הועבר رد پاسخ "
    "回复 答复 回覆 转发 轉寄 返信 転送 답장 회신 전달".split()
) | {"trả lời", "chuyển tiếp", "إعادة توجيه"}
"""The words that mail programs put there when they answer or forward a mail, and what our reminders begin with."""
FULL = {"challenge": "chall", "preview": "prev", "subscribe": "sub", "unsubscribe": "unsub"}
"""Commands that may be shortened, down to these words."""
SYNONYMS = {
    "add": "signup",
    "board": "move",
    "boardq": "queue",
    "delete": "signoff",
    "moveq": "queue",
    "mvoe": "move",
    "qboard": "queue",
    "qmove": "queue",
    "ratings": "standings",
}
GOES_ON = (
    r"[,\uff0c\u3001]\n|\n[,\uff0c\u3001]|(?:^|[\s,])x\n[a-z]\d|,[-+\u2010-\u2015\u2212]\n[a-z]\d"
    r"|[-\u2010-\u2015\u2212][a-z]\d+\n[-\u2010-\u2015\u2212][a-z]\d\S*$"
)
"""Two lines, if the second one goes on with the turn of the first. They meet at a comma, behind the x of a removal,
behind a sign of Papagra, or between two removals without a comma, as in Papagra.

Examples are ``a1,`` and ``b2``, ``e5,x`` and ``d4``, ``e3,+`` and ``f6``, ``-a1`` and ``-b2``."""
MEANT_AS_MOVES = {"draw": "propose", "propose": "propose", "undo": "undo", "unresign": "unresign"}
"""What people type as commands although it belongs where a move stands, and the word to write there."""
MEANT = {
    "clocks": "challenge",
    "commands": "help",
    "digest": "mail",
    "forfeit": "resign",
    "hallo": "help",
    "hello": "help",
    "info": "help",
    "invite": "challenge",
    "manual": "help",
    "play": "move",
    "pool": "table",
    "ranking": "standings",
    "rating": "standings",
    "register": "signup",
    "replay": "show",
    "rules": "help",
    "selector": "games",
    "start": "challenge",
    "takeback": "undo",
    "tutorial": "help",
}
"""What people mean by words that are no commands, and are not near those that are."""
CHANGES_OF_NOTICES = "add", "confirm", "list", "drop"
"""What can stand behind `notices USERID PASSWORD`."""
LAST_LINES = "end", "quit", "--"
"""The lines that end the commands in a body."""


def without_prefixes(line: str) -> str:
    """A line without what mail programs put in front, such as ``Re:`` and ``[EXT]``."""
    text = line.lstrip()
    mark = re.compile(MARK)
    begin = 0
    while (prefix := mark.match(text, begin)) and (prefix[1] is None or prefix[1].lower() in REPLIES):
        begin = prefix.end()
    return text[begin:]


def tidied(line: str) -> list[str]:
    """The words of a line without what mail programs and our own subjects add, command words first.

    Options in front of the second word come behind it.
    """
    words = [word for word in without_prefixes(line).split() if word != "**"]
    if len(words) > 1 and words[0].lower() == "new" and games.exists(words[1].lower()):
        del words[0]
    options: list[str] = []
    commands: list[str] = []
    for place, word in enumerate(words):
        if len(commands) == 2:
            return commands + options + words[place:]
        if is_option(word):
            options.append(word)
        else:
            commands.append(word)
    return commands + options


def is_option(word: str) -> bool:
    """Whether a word in front of the moves is an option; one or two bare hyphens are none."""
    return word.startswith("-") and word not in {"-", "--"}


def moves(text: str) -> list[str]:
    """The moves in a text, parted by blanks, except next to a comma and behind the x of a removal or a sign."""
    line = re.sub(" ?, ?", ",", " ".join(latin(text).split()))
    return re.sub(r"((?:^|[ ,])x|,[-+]) (?=[a-z]\d)", r"\1", line, flags=re.IGNORECASE).split()


def one_move(text: str) -> list[str]:
    """The words of a text that should be one move; a long row of removals may have been broken at a blank, too."""
    return re.sub(rf"(-[a-z]\d+) {FRONT_OF_CELL}", r"\1", " ".join(moves(text)), flags=re.IGNORECASE).split()


def goes_on(above: str, below: str) -> bool:
    """Whether a line goes on with the turn at the end of the line above it."""
    return below != "" and re.search(GOES_ON, latin(f"{above}\n{below}"), re.IGNORECASE) is not None


def whole_turn(lines: Sequence[str], start: int = 0) -> tuple[str, int]:
    """A line with those below it into which a mail program has broken its turn, and how many lines these are."""
    parts = [lines[start].strip()]
    while start + len(parts) < len(lines):
        following = lines[start + len(parts)].strip()
        if not goes_on(parts[-1], following):
            break
        parts.append(following)
    return "".join(parts), len(parts)


def command(word: str) -> str:
    """The command that a word means: itself, one that it is short for, or one that it is another name of."""
    word = latin(word).lower()
    for full, short in FULL.items():
        if full.startswith(word) and word.startswith(short):
            return full
    return SYNONYMS.get(word, word)


def lines_of(body: str) -> Iterator[str]:
    """The commands in a body."""
    lines = [line for line in body.splitlines() if not line.lstrip().startswith("#")]
    start = 0
    while start < len(lines):
        line, count = whole_turn(lines, start)
        if line.lower() in LAST_LINES:
            return
        if line:
            yield line
        start += count
