"""The charsets of mails: bytes become text, and what a charset could not decode is guessed last."""

import codecs
import re
from contextlib import suppress
from encodings import normalize_encoding
from encodings.aliases import aliases

CHARSETS = {
    *aliases, *aliases.values(), "cp720", "cp737", "cp856", "cp874", "cp875", "cp1006", "koi8_t", "koi8_u",
    "mac_arabic", "mac_croatian", "mac_farsi", "mac_romanian",
} - {
    name for alias, codec in aliases.items() if codec.endswith(("_codec", "rot_13")) for name in (alias, codec)
}  # fmt: skip
"""The charsets in which text is really written. Python has more codecs: some are none for text, some are slow."""
SPELLINGS = [
    (re.compile("(?:x_)+"), ""),  # in front of x_sjis
    (re.compile("cs(?=[a-z])"), ""),  # in front of csshiftjis
    # as in windows_1252 and ibm_437
    (re.compile(r"(?:(?:ms|microsoft)_)?(?:windows|win|cp|dos|ibm|oem|ms|codepage)_?(?=\d)"), "cp"),
    (re.compile(r"(?:iso_?)?8859_?(\d+)(?:_?[a-z].*)?$"), r"iso8859_\1"),  # as in iso_8859_8_i
    (re.compile(r"(?:iso_?)?latin_?(?=\d)"), "latin"),  # as in latin_1
]
"""How mail programs begin the names of charsets, and how Python does, in the order in which they are replaced."""
NAMES_OF_CODECS = {
    "ascii": "ansi_x3.4 cp20127",
    "big5": "big5_eten cn_big5 mac_chinesetrad",
    "cp932": "cp31j mac_japanese sjis_win",
    "cp949": "cp20949 cp51949 iso_ir_149 ks_c_5601_1989 ksc56011987 ksc_5601 mac_korean",
    "euc_jp": "cp51932 eucjp_ms eucpkdfmtjapanese",
    "gb18030": "cn_gb cp20936 cp51936 cp54936 gb_2312 gb_2312_80 gbk2312 mac_chinesesimp",
    "hz": "cp52936",
    "iso2022_jp_ext": "cp50220 cp50221 cp50222 iso_2022_jp_ms jis",
    "iso8859_1": "cp28591",
    "iso8859_10": "cp28600",
    "iso8859_11": "cp28601",
    "iso8859_13": "cp28603",
    "iso8859_14": "cp28604",
    "iso8859_15": "cp28605",
    "iso8859_16": "cp28606",
    "iso8859_2": "cp28592",
    "iso8859_3": "cp28593",
    "iso8859_4": "cp28594",
    "iso8859_5": "cp28595",
    "iso8859_6": "cp28596",
    "iso8859_7": "cp28597 sun_eu_greek",
    "iso8859_8": "cp28598 logical visual",
    "iso8859_9": "cp28599",
    "koi8_r": "cp20866 koi koi8",
    "koi8_u": "cp21866 koi8_ru",
    "mac_cyrillic": "cp10007 mac_ukrainian",
    "mac_greek": "cp10006",
    "mac_iceland": "mac_icelandic",
    "mac_latin2": "cp10029 mac_ce mac_centraleurroman",
    "mac_roman": "cp10000 mac",
    "utf_16": "iso_10646_ucs_2 ucs_2 unicode unicode_1_1 unicodefeff",
    "utf_16_be": "cp1201 unicodefffe",
    "utf_16_le": "cp1200",
    "utf_7": "cp65000 unicode11utf7",
    "utf_8": "unicode11utf8 unicode20utf8 unicode_1_1_utf_8 unicode_2_0_utf_8 utf8mb4",
}
"""Names of charsets that Python lacks, as SPELLINGS leave them: those of programs, of IANA and of WHATWG."""
CODECS = {name: codec for codec, names in NAMES_OF_CODECS.items() for name in names.split()}
WIDER = {
    "latin_1": "cp1252",
    "ascii": "utf_8",
    "big5": "cp950",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso2022_jp": "iso2022_jp_ext",
    "iso8859_11": "cp874",
    "iso8859_9": "cp1254",
    "shift_jis": "cp932",
    "tis_620": "cp874",
}
"""What programs really write when they name the smaller charset."""
UNLIKE_ASCII = "utf_16", "utf_32", "cp037", "cp500", "cp875", "cp1026", "cp1140"
"""How the names of codecs begin in which ASCII letters have other bytes."""
FIRST_MARK = 0x10EE00
"""The character that stands for an undecodable byte 0; all 256 are for private use."""
UNDECODED = re.compile("[\U0010ee00-\U0010eeff]")
MARK_OF_ESCAPED = {0xDC00 + byte: FIRST_MARK + byte for byte in range(0x80, 0x100)}
"""The mark for each character that Python's handler `surrogateescape` makes of an undecodable byte."""
GUESSES = dict.fromkeys(range(FIRST_MARK, FIRST_MARK + 0x100), "\N{REPLACEMENT CHARACTER}") | {
    FIRST_MARK + byte: bytes([byte]).decode("cp1252", "replace")
    for byte in range(0x100)
    if byte >= 0x80 or chr(byte).isprintable()
}
"""What each of these bytes most likely is: many programs write Windows' own charset, no matter which they name."""


def decoded(raw: bytes, charset: str) -> str:
    """Text in a charset that a mail names, which is often missing, unknown or wrong.

    Each byte that cannot be decoded becomes a character that UNDECODED finds, for `with_guesses`.
    """
    codec = _codec_of(charset)
    if codec.startswith(UNLIKE_ASCII) and raw.isascii() and b"\0" not in raw:
        codec = "utf_8"  # the name is wrong
    with suppress(UnicodeError, LookupError):  # not every name that Python knows has a codec on every system
        return raw.decode(codec)
    # The name is wrong, or the text is damaged. UTF-8 is hardly ever right by chance, unless all bytes are ASCII, which
    # a charset of 7 bits could not decode.
    if not raw.isascii():
        with suppress(UnicodeError):
            return raw.decode("utf_8")
    if codec != "utf_8":
        with suppress(UnicodeError, LookupError):
            return raw.decode(codec, "pbm.mark")
    # the same as our error handler does, but in a tenth of the time, which a mail full of such bytes needs
    return raw.decode("utf_8", "surrogateescape").translate(MARK_OF_ESCAPED)


def with_guesses(text: str) -> str:
    """A text in which each byte that could not be decoded is what it most likely is."""
    return text.translate(GUESSES)


def mark(byte: int) -> str:
    """The character that stands for a byte that could not be decoded."""
    return chr(FIRST_MARK + byte)


def _mark_undecodable(error: UnicodeError) -> tuple[str, int]:
    """Handle an error of decoding, as `codecs.register_error` wants it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(map(mark, error.object[error.start : error.end])), error.end


codecs.register_error("pbm.mark", _mark_undecodable)


def _codec_of(charset: str) -> str:
    """Python's name of a charset; the name of UTF-8 if Python has none."""
    if not charset.isascii() or len(charset) >= 40:
        return "utf_8"
    name = normalize_encoding(charset).lower().strip("_")
    spelled = name
    for beginning, replacement in SPELLINGS:
        if beginning.match(spelled):
            spelled = beginning.sub(replacement, spelled, count=1)
    for candidate in (CODECS.get(spelled), name, spelled):
        if candidate in CHARSETS:
            codec = aliases.get(candidate, candidate)
            return WIDER.get(codec, codec)
    return "utf_8"
