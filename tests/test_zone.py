"""`pbm doctor --dns`: each fault of the zone of our domain has a sentence, and the line that mends it.

The zones are answered for by a name server on the loopback; 192.0.2.25 is the address from which mail leaves.
"""

import json
import sys

import pytest

from pbm.mail.signing import public_record, zone_line

from helpers.keys import new_key, write_key
from helpers.relays import Relay, running
from helpers.zones import answering_for, text_records

checkdmarc = pytest.importorskip("checkdmarc", reason="checkdmarc, of the extra dns, is not installed")
dkim = pytest.importorskip("dkim", reason="dkimpy, of the extra dns, is not installed")

GOOD = """
    games.example. IN MX 10 mail.games.example.
    mail.games.example. IN A 192.0.2.25
    games.example. IN TXT "v=spf1 mx -all"
    _dmarc.games.example. IN TXT "v=DMARC1; p=quarantine"
    25.2.0.192.in-addr.arpa. IN PTR mail.games.example.
"""
"""A zone without faults, but for the key, and the zone of our address."""


@pytest.fixture(autouse=True)
def forgetful():
    """checkdmarc remembers answers for half an hour; another test has other zones."""
    checkdmarc.utils.DNS_CACHE.clear()


@pytest.fixture(scope="module")
def keys():
    return new_key(), new_key()


@pytest.fixture
def asking(shell, keys, tmp_path):
    """A shell of games.example, which signs its mails."""
    path = write_key(keys[0], tmp_path / "dkim.key")
    shell.environment |= {"PBM_ADDRESS": "pbm@games.example", "PBM_DKIM_KEY": str(path)}
    return shell


def key_line(key):
    return zone_line("pbm._domainkey.games.example", "TXT", public_record(key))


def found(shell, port, *words):
    """The faults that are found: where, what, and the line for the zone."""
    done = shell.run("doctor", "--dns", f"--resolver=127.0.0.1:{port}", "--ip=192.0.2.25", "--json", *words)
    answer = json.loads(done.stdout)
    assert done.returncode == (0 if answer["ok"] else 1)
    assert answer["ok"] == (not answer["findings"])
    return [(finding["where"], finding["what"], finding["mend"]) for finding in answer["findings"]]


def without(part):
    """The good zone without the lines that have this in them."""
    return "\n".join(line for line in GOOD.splitlines() if part not in line)


def spf(record):
    return without("v=spf1") + f'\ngames.example. IN TXT "{record}"'


def dmarc(record):
    return without("v=DMARC1") + f'\n_dmarc.games.example. IN TXT "{record}"'


ELEVEN = "\n".join(f'i{n}.example. IN TXT "v=spf1 ip4:198.51.100.{n} -all"' for n in range(11))
MX_LINE = "games.example. IN MX 10 mail.games.example."
SPF_LINE = 'games.example. IN TXT "v=spf1 ip4:192.0.2.25 -all"'
DMARC_LINE = '_dmarc.games.example. IN TXT "v=DMARC1; p=quarantine"'
PTR_LINE = "25.2.0.192.in-addr.arpa. IN PTR mail.games.example."
WRONG_P = "Tag p must have one of the following values: none,quarantine,reject - not everything."
GONE = (
    "The include target gone.example has no SPF record, which RFC 7208 \u00a7 5.2 defines as a permanent error "
    "(permerror): The domain does not exist."
)
"""These, and what is wrong in an SPF record, are the words of checkdmarc."""
BROKEN = {
    "no MX": (
        without(" MX "),
        ("MX", "games.example has no MX record, so mail for it may not arrive.", MX_LINE),
        ("SPF", "the SPF record does not name 192.0.2.25, from which our mail leaves.",
         'games.example. IN TXT "v=spf1 ip4:192.0.2.25 mx -all"'),
    ),
    "an MX that takes no mail": (
        spf("v=spf1 ip4:192.0.2.25 -all").replace("10 mail.games.example.", "0 ."),
        ("MX", "games.example says that it takes no mail.", MX_LINE),
    ),
    "an MX that is an alias": (
        GOOD.replace("10 mail.", "10 alias.") + "alias.games.example. IN CNAME mail.games.example.",
        ("MX", "the MX alias.games.example is an alias (CNAME) of mail.games.example; an MX has to be the name itself.",
         MX_LINE),
    ),
    "an MX without an address": (
        spf("v=spf1 a:mail.games.example -all").replace("10 mail.", "10 gone."),
        ("MX", "the MX gone.games.example has no address, so mail for games.example does not arrive.",
         "gone.games.example. IN A 192.0.2.25"),
    ),
    "no SPF record": (
        without("v=spf1"),
        ("SPF", "games.example has no SPF record, so nobody knows who may send its mail.", SPF_LINE),
    ),
    "two SPF records": (
        GOOD + 'games.example. IN TXT "v=spf1 include:provider.example ~all"',
        ("SPF", "games.example has 2 SPF records, so none of them counts; only one may be there.",
         'games.example. IN TXT "v=spf1 ip4:192.0.2.25 include:provider.example mx ~all"'),
    ),
    "an SPF record with eleven look-ups": (
        spf(f"v=spf1 {' '.join(f'include:i{n}.example' for n in range(11))} -all") + "\n" + ELEVEN,
        ("SPF",
         "the SPF record needs more than ten look-ups, so it does not count; name addresses in place of names.",
         SPF_LINE),
    ),
    "an SPF record with a mistake": (
        spf("v=spf1 ipv4:192.0.2.25 -all"),
        ("SPF", "the SPF record does not count: games.example: ipv4 is not a valid SPF mechanism or modifier.",
         SPF_LINE),
    ),
    "an SPF record without our address": (
        spf("v=spf1 ip4:198.51.100.0/24 include:i1.example ~all") + "\n" + ELEVEN,
        ("SPF", "the SPF record does not name 192.0.2.25, from which our mail leaves.",
         'games.example. IN TXT "v=spf1 ip4:192.0.2.25 ip4:198.51.100.0/24 include:i1.example ~all"'),
    ),
    "an SPF record that leads to another one without our address": (
        spf("v=spf1 redirect=i1.example") + "\n" + ELEVEN,
        ("SPF", "the SPF record does not name 192.0.2.25, from which our mail leaves.",
         'games.example. IN TXT "v=spf1 ip4:192.0.2.25 redirect=i1.example"'),
    ),
    "an SPF record that includes one that is not there": (
        spf("v=spf1 ip4:192.0.2.25 include:gone.example -all"),
        ("SPF", f"the SPF record does not count: {GONE}", SPF_LINE),
    ),
    "an SPF record for everybody": (
        spf("v=spf1 mx +all"),
        ("SPF", "the SPF record lets everybody send mail of the domain (+all).",
         'games.example. IN TXT "v=spf1 ip4:192.0.2.25 mx -all"'),
    ),
    "no DMARC record": (
        without("v=DMARC1"),
        ("DMARC", "games.example has no DMARC record, so big providers may take its mail for spam.", DMARC_LINE),
    ),
    "a DMARC record with a mistake": (
        dmarc("v=DMARC1; p=everything"),
        ("DMARC", f"the DMARC record does not count: {WRONG_P}", DMARC_LINE),
    ),
    "two DMARC records": (
        GOOD + '_dmarc.games.example. IN TXT "v=DMARC1; p=reject"',
        ("DMARC", "games.example has several DMARC records, so none of them counts.", DMARC_LINE),
    ),
    "no name for our address": (
        without(" PTR "),
        ("PTR", "192.0.2.25 has no name (PTR); whoever gave you the address can enter it.", PTR_LINE),
    ),
    "a name that does not lead back to our address": (
        GOOD.replace("PTR mail.games", "PTR dyn25.provider"),
        ("PTR", "192.0.2.25 is called dyn25.provider.example, but dyn25.provider.example has not this address.",
         "dyn25.provider.example. IN A 192.0.2.25"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_zone_has_a_sentence_and_the_line_that_mends_it(asking, keys, fault):
    zone, *expected = BROKEN[fault]
    with answering_for(f"{zone}\n{key_line(keys[0])}") as port:
        assert found(asking, port) == expected


BROKEN_KEYS = {
    "no key": ("", "there is no key at pbm._domainkey.games.example, so nobody can check the signatures of our mails."),
    "another key": (
        "OTHER",
        "the key at pbm._domainkey.games.example is another one than that which signs our mails.",
    ),
    "no key but something else": (
        'pbm._domainkey.games.example. IN TXT "hello"',
        "what stands at pbm._domainkey.games.example is no key.",
    ),
    "a key that was called back": (
        'pbm._domainkey.games.example. IN TXT "v=DKIM1; k=rsa; p="',
        "what stands at pbm._domainkey.games.example is no key.",
    ),
    "two keys": (
        "BOTH",
        "there are 2 records at pbm._domainkey.games.example; only one key may be there.",
    ),
}


@pytest.mark.parametrize("fault", BROKEN_KEYS)
def test_a_wrong_key_in_the_zone_has_a_sentence_and_the_line_with_the_right_one(asking, keys, fault):
    published, what = BROKEN_KEYS[fault]
    right, other = map(key_line, keys)
    published = {"OTHER": other, "BOTH": f"{right}\n{other}"}.get(published, published)
    with answering_for(f"{GOOD}\n{published}") as port:
        assert found(asking, port) == [("DKIM", what, right)]


def test_a_zone_without_faults_has_none_and_each_line_that_mends_one_is_right(asking, keys):
    with answering_for(f"{GOOD}\n{key_line(keys[0])}") as port:
        assert found(asking, port) == []
        text = asking.done("doctor", "--dns", f"--resolver=127.0.0.1:{port}", "--ip=192.0.2.25")
        assert text == "All is well with the DNS of games.example.\n"


@pytest.mark.parametrize("fault", ["no SPF record", "two SPF records", "no DMARC record", "no name for our address"])
def test_with_the_line_for_the_zone_in_place_of_the_broken_ones_all_is_well(asking, keys, fault):
    zone, (_, _, line) = BROKEN[fault]
    name, _, kind, _ = line.split(None, 3)
    rest = [old for old in zone.splitlines() if not (f"{name} IN {kind} " in old and old.split()[0] == name)]
    mended = "\n".join([*rest, line, key_line(keys[0]), 'provider.example. IN TXT "v=spf1 -all"'])
    with answering_for(mended) as port:
        assert found(asking, port) == []


def test_a_key_of_the_mail_server_is_looked_for_under_its_own_name(asking, keys):
    del asking.environment["PBM_DKIM_KEY"]
    theirs = zone_line("mta._domainkey.games.example", "TXT", public_record(keys[1]))
    with answering_for(f"{GOOD}\n{theirs}") as port:
        asking.environment["PBM_DKIM_SELECTOR"] = "mta"
        assert found(asking, port) == []
        del asking.environment["PBM_DKIM_SELECTOR"]
        [(where, what, mend)] = found(asking, port)
    assert (where, mend) == ("DKIM", "`pbm mail key` makes a key, and prints the line for the zone.")
    assert what.endswith("if your mail server signs by another one, PBM_DKIM_SELECTOR names it.")


@pytest.mark.parametrize(
    "record",
    [
        "v=spf1 ip4:192.0.2.0/27 -all",
        "v=spf1 a:mail.games.example ~all",
        "v=spf1 a:other.example/24 -all",
        "v=spf1 mx:other.example/24 -all",
        "v=spf1 include:own.example -all",
        "v=spf1 redirect=own.example",
        "v=spf1 exists:%{i}.spf.example -all",
        "v=spf1 ip4:192.0.2.25",
    ],
)
def test_an_spf_record_can_name_our_address_in_many_ways(asking, keys, record):
    others = """
        other.example. IN A 192.0.2.77
        other.example. IN MX 5 other.example.
        own.example. IN TXT "v=spf1 ip4:198.51.100.1 mx:games.example -all"
    """
    with answering_for(f"{spf(record)}\n{others}\n{key_line(keys[0])}") as port:
        assert found(asking, port) == []


@pytest.mark.long
def test_with_a_new_key_and_its_line_in_the_zone_all_is_well_and_a_mail_by_smtp_is_believed(shell):
    shell.environment["PBM_ADDRESS"] = "pbm@games.example"
    made = shell.json("mail", "key")
    shell.environment["PBM_DKIM_KEY"] = made["key"]
    shell.sign_up("alice", "bob", has_mail=True)
    shell.run("symple", "challenge", "alice", "bob")
    with answering_for(f"{GOOD}\n{made['line']}") as port, running(Relay()) as relay:
        assert found(shell, port) == []
        shell.done("outbox", "flush", PBM_TRANSPORT=f"smtp://127.0.0.1:{relay.port}")
        messages = [mail.original_content for mail in relay.mails]
        assert [dkim.verify(message, dnsfunc=text_records(port)) for message in messages] == [True, True]


# No answers


def test_name_servers_that_fail_are_named_and_nothing_else_is_said_of_that_record(asking, keys):
    with answering_for(f"{GOOD}\n{key_line(keys[0])}", failing=["_dmarc.games.example."]) as port:
        assert found(asking, port) == [
            (
                "DNS",
                "the name servers do not say whether _dmarc.games.example has a record TXT (SERVFAIL).",
                "Look whether the zone is loaded, and whether its signatures (DNSSEC) are valid.",
            )
        ]


def test_a_resolver_that_does_not_answer_is_named_once(asking, monkeypatch):
    monkeypatch.setattr("pbm.operator.zone.RESOLVER_SECONDS", 0.1)
    with answering_for(GOOD, silent=True) as port:
        assert found(asking, port) == [
            (
                "DNS",
                "the resolver 127.0.0.1 does not answer within 0.1 seconds.",
                "Try another one: --resolver=9.9.9.9",
            )
        ]


@pytest.mark.parametrize("known", ["", GOOD], ids=["no domain at all", "no root"])
def test_a_resolver_that_does_not_know_the_root_of_dns_is_not_believed(asking, known):
    with answering_for(known, root="") as port:
        assert found(asking, port) == [
            (
                "DNS",
                "the resolver 127.0.0.1 does not know the root of DNS, so nothing that it says counts.",
                "Try another one: --resolver=9.9.9.9",
            )
        ]


def test_a_resolver_that_knows_the_top_level_domain_need_not_know_the_root(asking):
    without_mx = without("MX")
    with answering_for(without_mx) as port:
        usual = found(asking, port)
    with answering_for(without_mx, root="example. IN NS ns.example.") as port:
        assert found(asking, port) == usual
    assert usual


# What is asked


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--resolver=nonsense"], "--resolver=nonsense is not ADDRESS or ADDRESS:PORT, such as 9.9.9.9."),
        (["--resolver=127.0.0.1:x"], "--resolver=127.0.0.1:x is not ADDRESS or ADDRESS:PORT, such as 9.9.9.9."),
        (["--ip=mail.example"], "'mail.example' is no address of a machine; one looks like 192.0.2.25."),
    ],
)
def test_an_address_that_is_none_is_refused(asking, words, why):
    assert asking.refused("doctor", "--dns", *words) == f"{why}\n"


def test_options_of_dns_are_refused_without_it_and_those_for_boards_with_it(asking):
    assert "belong to --dns" in asking.refused("doctor", "--ip=192.0.2.25", status=2)
    assert "--dns plays no boards" in asking.refused("doctor", "--dns", "--sample=5", status=2)


def test_an_address_without_a_domain_is_refused(asking):
    why = asking.refused("doctor", "--dns", PBM_ADDRESS="pbm@localhost")
    assert why == "PBM_ADDRESS is 'pbm@localhost', which has no domain that others could look up.\n"


def test_the_addresses_of_a_relay_and_its_key_are_not_guessed(asking):
    del asking.environment["PBM_DKIM_KEY"]
    asking.environment |= {
        "PBM_TRANSPORT": "smtps://pbm@relay.example",
        "PBM_TRANSPORT_PASSWORD": "relay-secret",
    }
    with answering_for(spf("v=spf1 include:i1.example -all") + "\n" + ELEVEN) as port:
        text = asking.done("doctor", "--dns", f"--resolver=127.0.0.1:{port}")
    assert text.splitlines() == [
        "Mail leaves through relay.example. Whether SPF names its addresses is not known; --ip=ADDRESS tries one.",
        "relay.example may sign our mails; PBM_DKIM_SELECTOR names its key, if it is to be checked.",
        "All is well with the DNS of games.example.",
    ]


def test_without_the_extra_one_sentence_names_it(asking, monkeypatch):
    monkeypatch.setitem(sys.modules, "checkdmarc", None)
    monkeypatch.delitem(sys.modules, "pbm.operator.zone", raising=False)
    monkeypatch.delattr("pbm.operator.zone", raising=False)
    assert "pip install '.[dns]'" in asking.refused("doctor", "--dns")
