"""What is said back of a line: the refusal, and the quotation in which its secrets are masked."""

from pbm import letters, texts
from pbm.language import masking
from pbm.language.grammar import Root
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.names import IsUser
from pbm.refusals import Refused
from pbm.texts import said, without


def refusal(why: Refused, line: Line, body: str = "", game: str = "", is_user: IsUser | None = None) -> Letter:
    """What is answered to a line that was refused: the reason, the board if they may see it, and what they wrote.

    Passwords are masked. The *game* is named for the answer to a board mail, which does not begin with it.
    """
    text, found = line.masked(is_user, is_answer=bool(game))
    secrets = [*why.secrets, *found]
    quoted = [without(text, why.secrets)]
    quoted += [without(one, secrets) for one in below(line, body, is_user).splitlines()]
    return letters.of_error(
        said(str(why), secrets),
        quoted,
        subject=why.subject,
        game=game or line.game or "pbm",
        point=why.point,
        reader=why.reader,
        status=why.status,
    )


def below(line: Line, body: str, is_user: IsUser | None) -> str:
    """A text without the passwords in it, also where it goes on with the line above it.

    Below a line that is no command, its first line may be an answer to a board mail with a password in front.
    """
    typed = " ".join(line.typed.split())
    text = masking.without_passwords(line.tree, f"{typed}\n{body}", is_user).text.partition("\n")[2]
    first = next((one for one in text.splitlines() if one.strip()), "")
    words = [word.strip(masking.PUNCTUATION) for word in first.split()] if line.command is None else ()
    return text.replace(first, without(first, filter(masking.is_strange, words)), 1)


def comment(tree: Root, text: str, is_user: IsUser) -> str:
    """What somebody wrote to others, as they may see it: as much of it as is kept, and no password."""
    if not text:
        return ""
    # masked before it is broken into lines, which would break a long password, too
    return texts.written(masking.without_passwords(tree, text[: texts.MOST_COMMENT], is_user).text)
