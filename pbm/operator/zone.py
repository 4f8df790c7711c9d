"""What is wrong with the DNS of our domain, so that mail does not arrive, or other mail servers do not believe ours.

It needs the extra `dns`.
"""

import re
import socket
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import dkim
import dns.exception
import dns.resolver
from checkdmarc import dmarc, spf, utils

from pbm.mail.signing import zone_line
from pbm.operator.findings import Finding
from pbm.refusals import Refused
from pbm.texts import enumerated, one_line

RESOLVER_SECONDS = 5.0
"""How long a question to the resolver may take."""
ANOTHER_RESOLVER = "Try another one: --resolver=9.9.9.9"
MOST_OF_A_REASON = 200
"""How many characters of a reason are shown that a library gives."""
SPF_RECORD = re.compile(r"v=spf1(\s|$)", re.IGNORECASE)
MX_WITH_SIZE = re.compile(r"\bmx(:[^\s/]+)?/", re.IGNORECASE)
ANY_NETWORK = ip_network("0.0.0.0/0"), ip_network("::/0")
HostAddress = IPv4Address | IPv6Address


class Resolver(dns.resolver.Resolver):
    """A resolver that remembers which questions got no answer; "there is nothing" is one."""

    def __init__(self, chosen: str | None) -> None:
        """Use the resolver at an address such as ``127.0.0.1:5353``; None means that of the system. Raises Refused."""
        try:
            super().__init__(configure=chosen is None)
        except dns.resolver.NoResolverConfiguration as error:
            raise Refused("This machine has no resolver; name one by --resolver=ADDRESS.") from error
        if chosen is not None:
            address, self.port = _endpoint(chosen)
            self.nameservers = [str(address)]
        self.lifetime = RESOLVER_SECONDS
        self.unanswered: list[Finding] = []
        self.is_silent = False

    @property
    def servers(self) -> str:
        """The addresses of those that are asked, for example ``192.0.2.53 and 192.0.2.54``."""
        return enumerated([str(server) for server in self.nameservers], "and")

    def resolve(self, *args: Any, **kwargs: Any) -> dns.resolver.Answer:
        """Ask as usual, and note a question that got no answer."""
        try:
            return super().resolve(*args, **kwargs)
        except (dns.exception.Timeout, OSError):
            self.is_silent = True
            what = f"the resolver {self.servers} does not answer within {RESOLVER_SECONDS:g} seconds."
            self.unanswered.append(Finding("DNS", what, ANOTHER_RESOLVER))
            raise
        except dns.resolver.NoNameservers:
            name, kind = args[:2]
            what = f"the name servers do not say whether {name} has a record {kind} (SERVFAIL)."
            mend = "Look whether the zone is loaded, and whether its signatures (DNSSEC) are valid."
            self.unanswered.append(Finding("DNS", what, mend))
            raise


class Zone(NamedTuple):
    """Our domain, and what its zone should say."""

    domain: str
    resolver: Resolver
    addresses: Sequence[HostAddress]
    """The known addresses from which our mail leaves."""
    key_name: str | None
    """Where the key is published that signs our mails; None if that is not known."""
    key_record: str | None
    """What should stand there; None if we have no key."""

    @property
    def host(self) -> str:
        """A name for the machine, where a line needs one: that of its address, or else one in the domain."""
        for address in self.addresses:
            for name in _names_of(self, address):
                if str(address) in _addresses_of(self, name):
                    return name
        return f"mail.{self.domain}"

    @property
    def spf_terms(self) -> list[str]:
        """What names our addresses in an SPF record, for example ``ip4:192.0.2.25``."""
        return [f"ip{address.version}:{address}" for address in self.addresses] or ["mx"]


def examine_zone(zone: Zone) -> Iterator[Finding]:
    """The faults of a zone: MX, SPF, DKIM, DMARC, and the names of our addresses.

    A resolver that knows neither the root of DNS nor the top-level domain, which are always there, is the one fault:
    some say of every name that there is none.
    """
    knows_names = bool(_records(zone, ".", "NS"))
    if not knows_names and not zone.resolver.is_silent:  # some forward no question about the root
        knows_names = bool(_records(zone, zone.domain.rpartition(".")[2], "NS"))
    if zone.resolver.is_silent:
        yield zone.resolver.unanswered[0]
        return
    zone.resolver.unanswered = []
    if not knows_names:
        servers = zone.resolver.servers
        what = f"the resolver {servers} does not know the root of DNS, so nothing that it says counts."
        yield Finding("DNS", what, ANOTHER_RESOLVER)
        return
    for check in (_mx, _spf, _dkim, _dmarc, _reverse_names):
        findings = list(check(zone))
        if zone.resolver.unanswered:  # what was found then may not be true
            findings = zone.resolver.unanswered[:1]
            zone.resolver.unanswered = []
        yield from findings
        if zone.resolver.is_silent:
            return


def public_addresses() -> list[HostAddress]:
    """The addresses of this machine from which it reaches the Internet, if they are public; nothing is sent."""
    addresses = []
    for family, anywhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((anywhere, 53))
                address = ip_address(probe.getsockname()[0])
        except OSError:  # this machine has no such addresses
            continue
        if address.is_global:
            addresses.append(address)
    return addresses


def read_address(text: str) -> HostAddress:
    """The address that a text is. Raises Refused if it is none."""
    try:
        return ip_address(text)
    except ValueError as error:
        raise Refused(f"{text!r} is no address of a machine; one looks like 192.0.2.25.") from error


def _endpoint(text: str) -> tuple[HostAddress, int]:
    """The address and port of a resolver, such as ``127.0.0.1:5353`` or ``[::1]:53``. Raises Refused if it is none."""
    is_bare_ipv6 = text.count(":") > 1 and "[" not in text
    host = f"[{text}]" if is_bare_ipv6 else text
    try:
        url = urlsplit(f"//{host}")
        return ip_address(url.hostname or ""), url.port or 53
    except ValueError as error:
        raise Refused(f"--resolver={text} is not ADDRESS or ADDRESS:PORT, such as 9.9.9.9.") from error


# Questions: without an answer they find nothing, and the resolver notes that


def _records(zone: Zone, name: str, kind: str) -> list[str]:
    try:
        return list(utils.query_dns(name, kind, resolver=zone.resolver))
    except (dns.exception.DNSException, OSError):
        return []


def _addresses_of(zone: Zone, name: str) -> list[str]:
    return _records(zone, name, "A") + _records(zone, name, "AAAA")


def _names_of(zone: Zone, address: HostAddress) -> list[str]:
    return _records(zone, address.reverse_pointer, "PTR")


# Mail that comes in


def _mx(zone: Zone) -> Iterator[Finding]:
    """Check that mail for our domain finds a machine."""
    domain = zone.domain
    try:
        answer = utils.get_mx_record_set(domain, resolver=zone.resolver)
    except utils.DNSExceptionNXDOMAIN:
        yield Finding("MX", f"there is no domain {domain}.", _mx_line(zone, zone.host))
        return
    except (utils.DNSException, OSError):
        return
    if answer["null_mx"]:
        yield Finding("MX", f"{domain} says that it takes no mail.", _mx_line(zone, zone.host))
    elif not answer["hosts"]:
        what = f"{domain} has no MX record, so mail for it may not arrive."
        yield Finding("MX", what, _mx_line(zone, zone.host))
    for host in answer["hosts"]:
        name = host["hostname"]
        aliases = _records(zone, name, "CNAME")
        if aliases:
            what = f"the MX {name} is an alias (CNAME) of {aliases[0]}; an MX has to be the name itself."
            yield Finding("MX", what, _mx_line(zone, aliases[0]))
        elif not _addresses_of(zone, name):
            what = f"the MX {name} has no address, so mail for {domain} does not arrive."
            yield Finding("MX", what, _address_line(name, zone.addresses))


def _mx_line(zone: Zone, host: str) -> str:
    return zone_line(zone.domain, "MX", f"10 {host}.")


def _address_line(name: str, addresses: Sequence[HostAddress]) -> str:
    """The line that gives a machine its address."""
    if not addresses:
        return zone_line(name, "A", "ADDRESS")
    address = addresses[0]
    kind = "A" if address.version == 4 else "AAAA"
    return zone_line(name, kind, str(address))


# Who may send


def _spf(zone: Zone) -> Iterator[Finding]:
    """Check that the SPF record lets us send, and not everybody."""
    domain = zone.domain
    records = [text for text in sorted(_records(zone, domain, "TXT")) if SPF_RECORD.match(text)]
    fresh = _spf_line(zone, [])
    try:
        answer = spf.get_spf_record(domain, resolver=zone.resolver)
    except spf.SPFRecordNotFound as why:
        what = f"{domain} has no SPF record, so nobody knows who may send its mail."
        if records:  # one that it includes is missing
            what = f"the SPF record does not count: {_reason(why)}"
        yield Finding("SPF", what, fresh)
    except spf.MultipleSPFRTXTRecords:
        what = f"{domain} has {len(records)} SPF records, so none of them counts; only one may be there."
        yield Finding("SPF", what, _spf_line(zone, records))
    except spf.SPFTooManyDNSLookups:
        what = "the SPF record needs more than ten look-ups, so it does not count; name addresses in place of names."
        yield Finding("SPF", what, fresh)
    except spf.SPFError as why:
        yield Finding("SPF", f"the SPF record does not count: {_reason(why)}", fresh)
    else:
        if answer["parsed"]["all"] == "pass":
            what = "the SPF record lets everybody send mail of the domain (+all)."
            yield Finding("SPF", what, _spf_line(zone, records))
            return
        networks = list(_networks(zone, answer["record"], answer["parsed"]))
        for address in zone.addresses:
            if not any(address in network for network in networks):
                what = f"the SPF record does not name {address}, from which our mail leaves."
                yield Finding("SPF", what, _spf_line(zone, records))
                return  # the line names all addresses


def _networks(zone: Zone, record: str, parsed: Mapping[str, Any]) -> Iterator[Any]:
    """The networks that may send by an SPF record, which was *parsed*.

    What only the server that gets a mail can judge counts as any network: macros, names, and ``mx/24``, of which the
    parser does not tell the size.
    """
    for mechanism in parsed["mechanisms"]:
        if mechanism["action"] != "pass":
            continue
        kind = mechanism["mechanism"]
        is_known = "%" not in mechanism["value"]
        if kind in {"ip4", "ip6"}:
            yield ip_network(mechanism["value"], strict=False)
        elif kind == "include" and is_known:
            yield from _networks(zone, mechanism["record"], mechanism["parsed"])
        elif kind == "a" and is_known:
            for text in mechanism.get("addresses", ()):
                yield ip_network(text, strict=False)
        elif kind == "mx" and is_known and not MX_WITH_SIZE.search(record):
            for host in mechanism.get("hosts", ()):
                yield from map(ip_network, _addresses_of(zone, host["hostname"]))
        else:
            yield from ANY_NETWORK
    if parsed["redirect"]:
        yield from _networks(zone, parsed["redirect"]["record"], parsed["redirect"]["parsed"])


def _spf_line(zone: Zone, records: Sequence[str]) -> str:
    """One record that replaces these: only those who may send by them, and our addresses, may send."""
    terms = dict.fromkeys(zone.spf_terms)
    strictness = set()
    for record in records:
        for term in record.split()[1:]:
            if term.lower().lstrip("+-~?") == "all":
                strictness.add(term.lower())
            else:
                terms[term] = None
    last = "~all" if "~all" in strictness else "-all"
    if any(term.lower().startswith("redirect=") for term in terms):  # which counts only without `all`
        last = ""
    record = " ".join(["v=spf1"] + list(terms) + [last])
    return zone_line(zone.domain, "TXT", record.strip())


# Signatures, and what is to become of mail without


def _dkim(zone: Zone) -> Iterator[Finding]:
    """Check that the key is published that signs our mails."""
    name = zone.key_name
    ours = zone.key_record
    if name is None:
        return
    mend = "`pbm mail key` makes a key, and prints the line for the zone."
    if ours:
        mend = zone_line(name, "TXT", ours)
    texts = _records(zone, name, "TXT")
    if not texts and not ours:
        what = f"there is no key at {name}; if your mail server signs by another one, PBM_DKIM_SELECTOR names it."
        yield Finding("DKIM", what, mend)
    elif not texts:
        what = f"there is no key at {name}, so nobody can check the signatures of our mails."
        yield Finding("DKIM", what, mend)
    elif len(texts) > 1:
        yield Finding("DKIM", f"there are {len(texts)} records at {name}; only one key may be there.", mend)
    else:
        try:
            published = _public_key(texts[0])
        except ValueError:
            yield Finding("DKIM", f"what stands at {name} is no key.", mend)
            return
        if ours and published != _public_key(ours):
            yield Finding("DKIM", f"the key at {name} is another one than that which signs our mails.", mend)


def _public_key(record: str) -> bytes:
    """The key in a record, for example ``v=DKIM1; k=rsa; p=MIIBIj...``. Raises ValueError if there is none."""
    try:
        dkim.evaluate_pk(b"", record)
        return b64decode(dkim.util.parse_tag_value(record.encode())[b"p"])
    except (dkim.DKIMException, LookupError, TypeError) as error:
        raise ValueError(record) from error


def _dmarc(zone: Zone) -> Iterator[Finding]:
    """Check that other mail servers are told what to do with forged mail of our domain."""
    line = zone_line(f"_dmarc.{zone.domain}", "TXT", "v=DMARC1; p=quarantine")
    try:
        dmarc.get_dmarc_record(zone.domain, resolver=zone.resolver)
    except dmarc.DMARCRecordNotFound:
        yield Finding("DMARC", f"{zone.domain} has no DMARC record, so big providers may take its mail for spam.", line)
    except dmarc.MultipleDMARCRecords:
        yield Finding("DMARC", f"{zone.domain} has several DMARC records, so none of them counts.", line)
    except dmarc.DMARCError as why:
        yield Finding("DMARC", f"the DMARC record does not count: {_reason(why)}", line)


# The name of the machine


def _reverse_names(zone: Zone) -> Iterator[Finding]:
    """Check that each address from which our mail leaves has a name, which points back at it."""
    for address in zone.addresses:
        names = _names_of(zone, address)
        if not names:
            what = f"{address} has no name (PTR); whoever gave you the address can enter it."
            yield Finding("PTR", what, zone_line(address.reverse_pointer, "PTR", f"{zone.host}."))
        elif not any(str(address) in _addresses_of(zone, name) for name in names):
            what = f"{address} is called {names[0]}, but {names[0]} has not this address."
            yield Finding("PTR", what, _address_line(names[0], [address]))


def _reason(error: Exception) -> str:
    """Why a record does not count, by the library that has read it, as one sentence."""
    text = one_line(str(error.args[0] if error.args else error)).rstrip(".")
    return f"{text[:MOST_OF_A_REASON]}."
