"""The encodings in which the text of a mail is transferred (RFC 2045, 6): all of it is decoded, or none."""

import re
from binascii import a2b_base64, b2a_base64

from pbm.mail.charsets import UNDECODED, decoded

DATA = re.compile(rb"[A-Za-z0-9+/=]+")
"""What is written in base64."""
FOREIGN = re.compile(rb"[^A-Za-z0-9+/=\s]")
"""What is not written in base64."""
PIECE = re.compile(rb"([^=]+)(=*)")
"""Letters of base64, and their padding."""
PADDED = re.compile(rb"[^=]*=+")
"""All down to the first padding."""
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
"""What stands in no text, but in what was not decoded as it had been encoded."""
WORD = re.compile(rb"(?<![A-Za-z])[A-Z]?[a-z]+(?![A-Za-z])")
"""A word of a language; base64 mixes small letters, capitals and digits."""
SHORTEST_FOOTER = 6
"""How many letters of such words a footer has at least; fewer may be an end of the data."""
MOST_FOOTER_LINES = 200
ESCAPE = re.compile(rb"=([0-9A-Fa-f]{2})?")
"""A byte in quoted-printable, such as ``=C3``, or the sign alone."""
LONE_ESCAPE = b"=\0"
"""Stands for the sign of quoted-printable where no code follows; NUL is in no text."""


def base64_decoded(raw: bytes, charset: str) -> bytes | None:
    """A text that is encoded in base64, without a plain footer below; None if it does not decode as a whole.

    What is no letter of base64 is ignored (6.8). A text may be encoded in pieces, each with its own padding.
    """
    candidates = raw, _down_to_padding(raw), _above_footer(raw)
    for encoded in candidates:
        text = _all_decoded(encoded)
        if text is not None and _is_readable(text, charset):
            return text
    # it may be in another charset than it says, but then nothing else must be wrong
    pure = next((encoded for encoded in candidates if not FOREIGN.search(encoded)), None)
    return None if pure is None else _all_decoded(pure)


def quoted_printable_decoded(raw: bytes) -> bytes:
    """A text that is encoded in quoted-printable (6.7). A sign ``=`` without a code is kept as LONE_ESCAPE."""
    pieces: list[bytes] = []
    for line in raw.splitlines():
        trimmed = line.rstrip(b" \t")  # blanks behind a line that goes on were added on its way
        if trimmed.endswith(b"="):
            pieces.append(ESCAPE.sub(_byte_of, trimmed[:-1]))
        else:
            pieces.append(ESCAPE.sub(_byte_of, line))
            pieces.append(b"\n")
    return b"".join(pieces)


def _byte_of(code: re.Match[bytes]) -> bytes:
    """The byte for which a code such as ``=C3`` stands; LONE_ESCAPE for the sign alone."""
    return bytes.fromhex(code[1].decode()) if code[1] else LONE_ESCAPE


def _all_decoded(encoded: bytes) -> bytes | None:
    """What the letters of base64 in a text say; None if there are none, or if some are missing."""
    pieces = PIECE.findall(b"".join(DATA.findall(encoded)))
    texts = [_piece_decoded(*piece) for piece in pieces]
    if None in texts or (encoded.strip() and not texts):
        return None
    return b"".join(filter(None, texts))


def _piece_decoded(letters: bytes, padding: bytes) -> bytes | None:
    """What letters of base64 say; None if some are missing.

    Some programs leave out the padding. Then only the end of a line tells that this is the end of the data.
    """
    rest = len(letters) % 4  # four letters are three bytes; two or three letters at the end are one or two bytes
    if rest == 1:
        return None
    if rest and padding and (rest + len(padding)) % 4:
        return None
    text = a2b_base64(letters + b"==")
    if rest and not padding and not text.endswith(b"\n"):
        return None
    is_whole = b2a_base64(text, newline=False).rstrip(b"=") == letters  # else the last letter says more than the text
    return text if is_whole else None


def _is_readable(text: bytes, charset: str) -> bool:
    """Whether bytes are a text in a charset, or in UTF-8."""
    characters = decoded(text, charset)
    return not (UNDECODED.search(characters) or CONTROL.search(characters))


def _down_to_padding(raw: bytes) -> bytes:
    """The data down to their padding, if what follows cannot be data; otherwise all."""
    data = PADDED.match(raw)
    if data is None or not FOREIGN.search(raw, data.end()):
        return raw
    letters = sum(map(len, DATA.findall(data[0].rstrip(b"="))))
    needs_padding = letters % 4 > 1  # where none is needed, the sign belongs to what follows
    return data[0] if needs_padding else raw


def _above_footer(raw: bytes) -> bytes:
    """The data above lines in a language, such as a mailing list puts them under a mail; all if there are none."""
    lines = raw.strip().splitlines()
    end = len(lines)
    highest = max(0, end - MOST_FOOTER_LINES)
    letters = 0
    while end > highest and _is_plain(lines[end - 1]):
        end -= 1
        letters += sum(map(len, WORD.findall(lines[end])))
    if end == 0 or letters < SHORTEST_FOOTER:
        return raw
    return b"\n".join(lines[:end])


def _is_plain(line: bytes) -> bool:
    """Whether a line is no base64, even if it was damaged: most of it are words, or it has no letters at all."""
    words = line.split()
    if len(words) == 1 and not FOREIGN.search(line):
        # a word alone may be the end of the data, which is short, or has letters in groups of four
        return WORD.fullmatch(words[0]) is not None and len(words[0]) > 4 and len(words[0]) % 4 > 0
    if not re.search(b"[A-Za-z]", line):
        return True
    in_words = sum(map(len, WORD.findall(line)))
    in_data = sum(map(len, DATA.findall(line)))
    return 4 * in_words >= 3 * in_data
