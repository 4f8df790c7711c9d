"""Signatures of our mails by DKIM (RFC 6376): other mail servers see by them that a mail comes from our domain."""

from importlib.util import find_spec
from pathlib import Path
from string import digits
from typing import TYPE_CHECKING, NamedTuple

from pbm import environment
from pbm.disk import sync, whole
from pbm.refusals import Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

KEY_BITS = 2048
"""The size of a new key. Keys are of RSA, because big providers check no signatures of ed25519."""
LONGEST_STRING = 255
"""How many characters a string in a record of DNS has at most; a longer text is several strings."""
LONGEST_LABEL = 63
"""How many characters a label of a name in DNS has at most (RFC 1035, 2.3.4)."""
SIGNED_FIELDS = (
    "From From To Subject Date Message-ID In-Reply-To References Reply-To List-Unsubscribe List-Unsubscribe-Post "
    "Auto-Submitted MIME-Version Content-Type Content-Transfer-Encoding"
).split()
"""The fields of the header that a signature covers. Nobody can add such a field if the mail lacks it, and nobody can
add a second From."""
DKIM_EXTRA = (
    "Mails are signed with dkimpy, which is not installed: `python3 bin/make_environment.py dkim` in a clone, or "
    "pip install '.[dkim]'."
)


class Signer(NamedTuple):
    """Signs the mails of a domain with a key."""

    path: Path
    """The file of the key. It is read for each mail, so a new key counts at once."""
    domain: str
    selector: str
    """Distinguishes the keys of a domain, for example `pbm`."""

    @property
    def record_name(self) -> str:
        """Where other mail servers look for the public key, for example ``pbm._domainkey.games.example.org``."""
        return f"{self.selector}._domainkey.{self.domain}"

    def successor(self) -> "Signer":
        """Who signs with the next key, under a selector of its own, for example `pbm2` after `pbm`.

        While both keys are published, mails signed by either are believed (RFC 6376, 3.1).

        Raises Refused if the selector would be too long for a name in DNS.
        """
        name = self.selector.rstrip(digits)
        number = self.selector.removeprefix(name) or "1"
        selector = f"{name}{int(number) + 1}"
        if len(selector.rpartition(".")[2]) > LONGEST_LABEL:
            raise Refused(f"The selector after {self.selector} is too long; set PBM_DKIM_SELECTOR to a shorter one.")
        return self._replace(path=self.path.with_name(f"dkim-{selector}.key"), selector=selector)

    def record(self) -> str:
        """The text that publishes the public key, to stand at `record_name`. Raises Refused if the key is unusable."""
        return public_record(_parsed(_read(self.path), self.path))

    def signed(self, message: bytes) -> bytes:
        """A message, as `compose` makes it, with a signature in front. Raises Refused if the key cannot be used."""
        key = _read(self.path)
        try:
            import dkim
        except ImportError as error:
            raise Refused(DKIM_EXTRA) from error
        try:
            signature = dkim.sign(
                message,
                self.selector.encode(),
                self.domain.encode(),
                key.encode(),
                canonicalize=(b"relaxed", b"relaxed"),
                include_headers=[name.encode() for name in SIGNED_FIELDS],
                linesep=b"\n",
            )
        except (dkim.DKIMException, ValueError) as error:  # ValueError: its base64 is cut off
            raise Refused(_no_key(self.path)) from error
        return bytes(signature) + message


def make_key(path: Path) -> None:
    """Write a new key to a file for its owner alone. Raises OSError, or Refused."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa
    except ImportError as error:
        raise Refused(DKIM_EXTRA) from error
    key = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    with whole(path) as copy:
        copy.write_bytes(text)
        sync(copy)
        copy.rename(path)
        sync(path.parent)


def zone_line(name: str, kind: str, text: str) -> str:
    """A line for the file of a zone, for example ``games.example.org. IN TXT "v=spf1 mx -all"``.

    The text of a TXT record is cut into strings; in other records it stands as it is.
    """
    if kind == "TXT":
        parts = [text[first : first + LONGEST_STRING] for first in range(0, len(text), LONGEST_STRING)]
        text = " ".join([f'"{part}"' for part in parts])
    return f"{name}. IN {kind} {text}"


def public_record(key: "RSAPrivateKey") -> str:
    """The record of a key's public half, for example ``v=DKIM1; k=rsa; p=MIIBIj...``."""
    from base64 import b64encode

    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"v=DKIM1; k=rsa; p={b64encode(public).decode()}"


def _read(path: Path) -> str:
    """The text of a key. Raises Refused if there is none, or if every user of the machine can read or change it.

    The group may read it: it can be a file of root's for the user `pbm`, or a credential of systemd.
    """
    if environment.is_readable_by_others(str(path)):
        why = f"Everybody on this machine can read the key {path} of PBM_DKIM_KEY, so it is not used"
        raise Refused(f"{why}; `chmod 600 {path}` mends it.")
    try:
        text = environment.read_safely(str(path))
    except environment.SettingsError as error:
        raise Refused(str(error)) from error
    if text is None:
        raise Refused(f"There is no key {path} that can be read; PBM_DKIM_KEY names it. `pbm mail key` makes one.")
    return text


def _parsed(text: str, path: Path) -> "RSAPrivateKey":
    """The key that a text is. Raises Refused if it is none."""
    if find_spec("dkim") is None:
        raise Refused(DKIM_EXTRA)  # else all mails would wait for it, with a key that is right
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise Refused(DKIM_EXTRA) from error
    try:
        key = load_pem_private_key(text.encode(), None)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:  # it is cut off, encrypted, or something else
        raise Refused(_no_key(path)) from error
    if not isinstance(key, RSAPrivateKey):
        raise Refused(_no_key(path))
    return key


def _no_key(path: Path) -> str:
    return f"The file {path} of PBM_DKIM_KEY holds no key of RSA without a password; `pbm mail key` makes one."
