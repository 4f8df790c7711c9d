"""A name server on the loopback, which answers from zones that a test writes as files of zones are written.

with answering_for('games.example. IN TXT "v=spf1 -all"') as port:
    shell.run("doctor", "--dns", f"--resolver=127.0.0.1:{port}")
"""

import socket
import threading
from contextlib import contextmanager

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.resolver
import dns.rrset


def record_sets(text):
    """The records of a text, a line each, by name and type."""
    sets = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, kind, data = line.split(None, 3)
        key = dns.name.from_text(name), dns.rdatatype.from_text(kind)
        record = dns.rrset.from_text(name, 300, "IN", kind, data)
        sets.setdefault(key, record).update(record)
    return sets


def answered(query, sets, failing):
    """The answer of a resolver to a query: the records, behind an alias as well; SERVFAIL for the names *failing*."""
    answer = dns.message.make_response(query)
    answer.flags |= dns.flags.RA
    name, kind = query.question[0].name, query.question[0].rdtype
    if any(name.is_subdomain(dns.name.from_text(each)) for each in failing):
        answer.set_rcode(dns.rcode.SERVFAIL)
        return answer
    while alias := kind != dns.rdatatype.CNAME and sets.get((name, dns.rdatatype.CNAME)):
        answer.answer.append(alias)
        name = alias[0].target
    if (name, kind) in sets:
        answer.answer.append(sets[name, kind])
    elif not any(known.is_subdomain(name) for known, _ in sets):
        answer.set_rcode(dns.rcode.NXDOMAIN)
    return answer


ROOT = ". IN NS a.root-servers.net."


@contextmanager
def answering_for(zone, *, failing=(), silent=False, root=ROOT):
    """Run the server, which says nothing if it is *silent*. It knows the zone, and the *root*. Yields its port."""
    sets = record_sets(f"{root}\n{zone}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve():
            while (received := server.recvfrom(4096))[0]:
                if not silent:
                    server.sendto(answered(dns.message.from_wire(received[0]), sets, failing).to_wire(), received[1])

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", server.getsockname())  # ends the loop
            thread.join()


def text_records(port):
    """What dkimpy asks for the text of a record; it asks this server."""
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers = ["127.0.0.1"]
    resolver.port = port

    def text_record(name, timeout=5):
        records = resolver.resolve(name.decode(), "TXT", lifetime=timeout)
        return b"".join(records[0].strings)

    return text_record
