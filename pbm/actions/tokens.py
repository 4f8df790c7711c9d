"""Tokens, with which programs give commands over HTTP for a user. Only the SHA-256 of a token is stored."""

import re
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from pbm import delivery, letters, texts
from pbm.access.tokens import digest
from pbm.letters import Letter
from pbm.names import API_TOKENS
from pbm.refusals import Refused, check_no_placeholder
from pbm.session import Session
from pbm.store.trust import Token

MOST_TOKENS = 20
"""How many tokens a user may have."""
TOKEN_BYTES = 32
SCOPES: Mapping[str, str] = {
    "read": "commands that change nothing",
    "play": "all commands but those about tokens, passwords, addresses, and signing off",
}
REVOKE = "revoke"
NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


def check_not_mailed(session: Session, **_: object) -> None:
    """Raises Refused if anybody asks for a token by mail: mails are kept for ever."""
    if not session.is_printed:
        raise Refused("`token` is refused by mail, where a token could be read later. Use a shell, or HTTP.")


def change_token(session: Session, userid: str, name: str, word: str) -> list[Letter]:
    """Make a token, which is shown this once, or end one. Raises Refused."""
    check_no_placeholder(name, "a name for the token")
    if not NAME.fullmatch(name) or re.search(API_TOKENS, name):
        raise Refused(
            "The name of a token has up to 32 letters, digits, dots, hyphens or underscores.", secrets=(name,)
        )
    if word and word.lower() != REVOKE and word.lower() not in SCOPES:
        raise Refused("Behind the name of a token stands `read`, `play` or `revoke`.", secrets=(word,))
    word = word.lower()
    names = [token.name for token in session.store.trust.tokens(userid)]
    if word == REVOKE:
        if name not in names:
            raise Refused(f"{userid} has no token {name}; `tokens` lists them.")
        session.store.trust.revoke_token(userid, name)
        text = f"The token {name} of {userid} has ended."
        return [_receipt(session, userid, text, text, name=name, scope=None, token=None)]
    if name in names:
        raise Refused(f"{userid} has a token {name} already; choose another name, or end that one with `revoke`.")
    if len(names) >= MOST_TOKENS:
        raise Refused(f"{userid} has {MOST_TOKENS} tokens, which is the most; end one with `revoke`.")
    scope = word or "play"
    secret = f"pbm_{session.server.random_bytes(TOKEN_BYTES).hex()}"
    token = Token(userid, name, scope, made=session.now, used=None)
    session.store.trust.add_token(digest(secret), token)
    mailed = (
        f"A token {name} of {userid} was made: a program that has it can give {SCOPES[scope]} for you. If it was not "
        f"you who made it, end it with `token {userid} PASSWORD {name} revoke`, and change your password."
    )
    shown = fill(f"This is the token {name} of {userid}, for {SCOPES[scope]}. It is shown only now.", texts.WIDTH)
    return [_receipt(session, userid, f"{secret}\n\n{shown}", mailed, name=name, scope=scope, token=secret)]


def _receipt(session: Session, userid: str, shown: str, mailed: str, **data: Any) -> Letter:
    """The letter with the answer to the command. The user also gets a mail about it, which has no token in it."""
    answer = f"tokens {userid} PASSWORD"
    delivery.queue(session, letters.to_user(userid, fill(mailed, texts.WIDTH), answer=answer))
    return letters.plain_letter(shown, subject="pbm token", answer=answer, userid=userid, **data)


def list_tokens(session: Session, userid: str) -> list[Letter]:
    """List the tokens of a user: name, scope, when it was made and last used."""
    tokens = session.store.trust.tokens(userid)
    zone = session.zone(userid)
    lines = [f"{userid} has no tokens."]
    if tokens:
        lines = [f"The tokens of {userid}:"]
    data = []
    for token in tokens:
        used = "never used"
        if token.used:
            used = f"last used {token.used.astimezone(zone):{texts.TIME_FORMAT}}"
        made = f"{token.made.astimezone(zone):{texts.TIME_FORMAT}}"
        lines.append(f"  {token.name}: {token.scope}, made {made}, {used}")
        data.append(
            {
                "name": token.name,
                "scope": token.scope,
                "made": token.made.isoformat(),
                "used": token.used and token.used.isoformat(),
            }
        )
    answer = f"token {userid} PASSWORD NAME"
    return [letters.plain_letter("\n".join(lines), subject="pbm tokens", answer=answer, userid=userid, tokens=data)]
