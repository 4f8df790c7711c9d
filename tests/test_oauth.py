"""A mailbox at a provider that takes access tokens: how an operator logs in, and how tokens are shown and renewed."""

import imaplib
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from random import Random

import pytest

from pbm.mail import fetch
from pbm.mail.consent import PROVIDERS, is_safe, log_in_by_browser, log_in_by_device
from pbm.mail.oauth import LoginProblem, TokenRefused, Tokens, exchange
from pbm.mail.sending import flush
from pbm.mail.transports import transport

from helpers.answers import moves
from helpers.mail import message
from helpers.mailboxes import HANDLED, Mailbox, Talk, serving
from helpers.patience import until
from helpers.providers import providing
from helpers.relays import Relay, left, running
from helpers.servers import loaded


@pytest.fixture
def provider():
    with providing() as provider:
        yield provider


@pytest.fixture
def file(tmp_path):
    return tmp_path / "login.json"


@pytest.fixture
def tokens(provider, file):
    """Tokens that count for an hour."""
    return provider.logged_in(file)


def used(tokens):
    """The access tokens with which a mail server is asked that takes any."""
    shown = []
    tokens.use(shown.append)
    return shown


def refusing(*refused):
    """How somebody logs in at a mail server that refuses these tokens."""

    def log_in(token):
        if token in refused:
            raise TokenRefused("535 5.7.3 unsuccessful")

    return log_in


# A token is shown to a mail server


def test_a_token_is_shown_as_google_and_microsoft_want_it():
    mechanism, answers = exchange(["PLAIN", "OAUTHBEARER", "XOAUTH2"], "pbm@mail.example", "imap.example", 993, "abc")
    assert mechanism == "XOAUTH2"
    assert answers == ("user=pbm@mail.example\x01auth=Bearer abc\x01\x01", "")


def test_a_token_is_shown_by_the_standard_where_a_server_knows_nothing_else():
    mechanism, answers = exchange(["OAUTHBEARER"], "a,b=c@mail.example", "imap.example", 143, "abc")
    assert mechanism == "OAUTHBEARER"
    assert answers == (
        "n,a=a=2Cb=3Dc@mail.example,\x01host=imap.example\x01port=143\x01auth=Bearer abc\x01\x01",
        "\x01",
    )


@pytest.mark.parametrize(
    ("offered", "user", "complaint"),
    [(["PLAIN"], "pbm", "neither XOAUTH2 nor OAUTHBEARER"), (["XOAUTH2"], "pbm@mäil.example", "in ASCII")],
)
def test_where_no_token_can_be_shown_a_sentence_says_so(offered, user, complaint):
    with pytest.raises(LoginProblem, match=complaint):
        exchange(offered, user, "imap.example", 993, "abc")


# The tokens in the file


def test_a_token_that_counts_is_used_without_asking_the_provider(provider, tokens):
    assert used(tokens) == ["access-1"]
    assert provider.asked == []


@pytest.mark.parametrize("lasts", [-10, 30])
def test_a_token_that_has_ended_or_ends_within_a_minute_is_renewed(provider, file, lasts):
    assert used(provider.logged_in(file, lasts)) == ["access-2"]
    assert provider.asked == ["refresh_token"]


def test_a_new_refresh_token_is_on_the_disk_before_the_new_token_is_used(provider, file):
    kept = []
    provider.logged_in(file, 0).use(lambda _: kept.append(json.loads(file.read_text())["refresh_token"]))
    assert kept == ["refresh-2"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_refresh_token_that_stays_is_kept(provider, file):
    provider.rotates = False
    for number in (2, 3):
        tokens = Tokens(file) if number > 2 else provider.logged_in(file, 0)
        provider.lifetime = 0
        assert used(tokens) == [f"access-{number}"]
    assert tokens.read().refresh_token == "refresh-1"


def test_a_token_that_a_mail_server_refuses_is_renewed_once(provider, tokens):
    tokens.use(refusing("access-1"))
    assert provider.asked == ["refresh_token"]
    assert used(tokens) == ["access-2"]


def test_if_the_new_token_is_refused_too_the_operator_has_to_log_in_again(provider, tokens):
    with pytest.raises(LoginProblem, match=r"logged in again, by `pbm mail login`: 535 5.7.3 unsuccessful"):
        tokens.use(refusing("access-1", "access-2"))
    assert provider.asked == ["refresh_token"]
    assert tokens.problem() == "the mailbox asks to be logged in again, by `pbm mail login`: 535 5.7.3 unsuccessful"
    tokens.use(refusing())
    assert tokens.problem() == ""


def test_if_the_provider_has_revoked_the_login_the_operator_has_to_log_in_again(provider, file):
    tokens = provider.logged_in(file, 0)
    provider.is_revoked = True
    with pytest.raises(LoginProblem) as why:
        used(tokens)
    assert str(why.value) == (
        "the mailbox asks to be logged in again, by `pbm mail login`: invalid_grant: PASSWORD has expired"
    )
    assert tokens.problem() == str(why.value)
    provider.logged_in(file)
    assert tokens.problem() == ""


@pytest.mark.parametrize(
    ("refusal", "complaint"),
    [
        ((503, {"error": "temporarily_unavailable"}), "127.0.0.1 answers with status 503"),
        ((429, {"error": "slow_down"}), "127.0.0.1 answers with status 429"),
        ((200, b"<html>"), "127.0.0.1 has answered without an access token"),
        ((200, {"access_token": 7}), "127.0.0.1 has answered without an access token"),
        ((302, b""), "127.0.0.1 answers with status 302"),
        ((400, b"[" * 90_000), "127.0.0.1 answers with status 400"),
    ],
)
def test_a_provider_that_does_not_work_for_now_asks_for_no_new_login(provider, file, refusal, complaint):
    tokens = provider.logged_in(file, 0)
    provider.refusals = [refusal]
    with pytest.raises(LoginProblem, match=complaint):
        used(tokens)
    assert tokens.problem() == ""
    assert used(tokens) == ["access-2"]


def test_a_provider_that_cannot_be_reached_asks_for_no_new_login(file):
    with providing() as provider:
        tokens = provider.logged_in(file, 0)
    with pytest.raises(LoginProblem, match=r"127.0.0.1 cannot be reached: nobody listens there"):
        used(tokens)
    assert tokens.problem() == ""


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_can_read_or_write_is_refused(provider, tokens, mode):
    tokens.path.chmod(mode)
    with pytest.raises(LoginProblem, match="others can read or write"):
        used(tokens)
    assert "others can read or write" in tokens.problem()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"client": 1}', "\ud800", "[" * 100_000, None])
def test_a_file_that_holds_no_login_is_refused_in_a_sentence(file, text):
    if text is not None:
        file.write_bytes(text.encode(errors="surrogatepass"))
        file.chmod(0o600)
    with pytest.raises(LoginProblem, match="`pbm mail login` makes"):
        used(Tokens(file))


def test_a_value_of_another_kind_is_no_login(provider, tokens):
    data = tokens.read()._asdict()
    for name, value in {"expires": "soon", "access_token": None, "complaint": 3}.items():
        tokens.path.write_text(json.dumps(data | {name: value}))
        with pytest.raises(LoginProblem, match="holds no login"):
            used(tokens)


def test_tokens_that_could_not_be_stored_are_not_renewed(provider, file):
    tokens = provider.logged_in(file, 0)
    (file.parent / "login.json.lock").mkdir()
    with pytest.raises(LoginProblem, match="cannot be written: that is a folder"):
        used(tokens)
    assert provider.asked == []


def test_of_two_processes_that_renew_at_once_one_asks_and_both_have_the_token(provider, file):
    tokens = provider.logged_in(file, 0)
    provider.may_answer.clear()
    with ThreadPoolExecutor() as processes:
        both = [processes.submit(used, tokens) for _ in range(2)]
        until(lambda: provider.asked)
        provider.may_answer.set()
        assert [shown.result() for shown in both] == [["access-2"]] * 2
    assert provider.asked == ["refresh_token"]


IMPORTS = "import sys; from pathlib import Path; from pbm.mail.oauth import Tokens"
RENEWAL = "Tokens(Path(sys.argv[1])).use(id)"


def test_a_renewal_that_is_killed_while_the_provider_thinks_loses_nothing(provider, file):
    tokens = provider.logged_in(file, 0)
    before = file.read_text()
    provider.may_answer.clear()
    with subprocess.Popen([sys.executable, "-c", f"{IMPORTS}; {RENEWAL}", file]) as process:
        until(lambda: provider.asked)
        process.kill()
    assert file.read_text() == before
    provider.may_answer.set()
    assert used(tokens) == ["access-3"]
    assert [path.name for path in file.parent.glob(".*")] == []


@pytest.mark.long
def test_renewals_that_are_killed_at_any_moment_leave_a_login_that_counts(provider, file):
    provider.logged_in(file, 0)
    provider.lifetime = 0  # each use is a renewal
    pauses = Random(45)
    for _ in range(12):
        asked = len(provider.asked)
        with subprocess.Popen([sys.executable, "-c", f"{IMPORTS}\nwhile True: {RENEWAL}", file]) as process:
            try:
                until(partial(has_asked, provider, asked + 2))
                time.sleep(pauses.random() / 50)
            finally:
                process.kill()
        assert used(Tokens(file)) == [provider.newest]


def has_asked(provider, times):
    return len(provider.asked) >= times


# Mail by IMAP and by SMTP


def account(port):
    return fetch.Account("127.0.0.1", port, "pbm@mail.example", "INBOX", encrypted=False)


def fetched(club, box, tokens):
    """How many mails are fetched from a mailbox."""
    with serving(box) as port:
        return fetch.fetch(club.server, account(port), tokens, HANDLED)


def mailbox(password, can="IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 MOVE"):
    """A mailbox with a move of alice in it, whose password is an access token."""
    box = Mailbox(can, password=password)
    box.add(message("spiro move 101 alice alice-secret e3:5"))
    return box


@pytest.mark.parametrize("mechanism", ["XOAUTH2", "OAUTHBEARER"])
def test_mail_is_fetched_with_an_access_token(pair, tokens, mechanism):
    box = mailbox("access-1", f"IMAP4rev1 AUTH=PLAIN AUTH={mechanism} MOVE")
    assert fetched(pair, box, tokens) == 1
    assert moves(pair) == 1
    assert f"AUTHENTICATE {mechanism}" in box.said


def test_a_refused_token_is_renewed_on_the_same_connection(pair, provider, tokens):
    box = mailbox("access-2")
    assert fetched(pair, box, tokens) == 1
    assert box.shown == [
        "user=pbm@mail.example\x01auth=Bearer access-1\x01\x01",
        "\r\n",  # to the explanation
        "user=pbm@mail.example\x01auth=Bearer access-2\x01\x01",
    ]
    assert provider.asked == ["refresh_token"]


def test_a_mailbox_that_refuses_the_new_token_too_keeps_its_mail_and_asks_for_a_login(pair, provider, tokens):
    box = mailbox("another")
    with pytest.raises(LoginProblem, match=r"logged in again, by `pbm mail login`: AUTHENTICATE failed"):
        fetched(pair, box, tokens)
    assert len(box.texts("INBOX")) == 1
    assert provider.asked == ["refresh_token"]


def test_a_mail_server_that_cannot_check_tokens_for_now_causes_no_renewal(pair, provider, tokens):
    class Overloaded(Talk):
        def do_authenticate(self, mechanism):
            super().do_authenticate(mechanism)
            return "NO [UNAVAILABLE] later"

    with serving(mailbox("access-1"), talk=Overloaded) as port, pytest.raises(imaplib.IMAP4.error, match="later"):
        fetch.fetch(pair.server, account(port), tokens, HANDLED)
    assert provider.asked == []
    assert tokens.problem() == ""


@pytest.fixture
def submission(certificate, monkeypatch):
    """A submission server over TLS, and its address."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    with running(Relay(), loaded(certificate)) as relay:
        relay.token = "access-1"
        yield relay


def sent(club, relay, tokens):
    """How many mails go out, and how many do not."""
    way = transport(f"smtp+starttls://pbm%40mail.example@localhost:{relay.port}", tokens)
    return flush(club.server, way)[:2]


def test_mails_go_out_with_an_access_token(waiting, submission, tokens):
    assert sent(waiting, submission, tokens) == (4, 0)
    assert submission.logins == ["user=pbm@mail.example\x01auth=Bearer access-1\x01\x01"] * 4


def test_a_token_that_a_submission_server_refuses_is_renewed(waiting, provider, submission, tokens):
    submission.token = "access-2"
    assert sent(waiting, submission, tokens) == (4, 0)
    assert submission.logins[1] == b""  # to the explanation
    assert provider.asked == ["refresh_token"]


def test_while_no_token_is_taken_all_mails_wait_and_go_out_after_a_new_login(waiting, provider, submission, tokens):
    submission.token = "access-9"
    provider.is_revoked = True
    assert sent(waiting, submission, tokens) == (0, 4)
    problem = "the mailbox asks to be logged in again, by `pbm mail login`: invalid_grant: PASSWORD has expired"
    assert {(is_due, why) for _, _, is_due, why in left(waiting)} == {(True, problem)}
    provider.given = 8
    provider.logged_in(tokens.path)
    waiting.pass_time(minutes=5)
    assert sent(waiting, submission, tokens) == (4, 0)


def test_a_submission_server_that_asks_what_is_no_base64_loses_no_mail(waiting, submission, tokens):
    submission.token = ""
    submission.replies["CHALLENGE"] = "334 error"
    assert sent(waiting, submission, tokens) == (0, 4)
    assert {is_due for _, _, is_due, _ in left(waiting)} == {True}
    assert all("cannot be understood" in why for *_, why in left(waiting))


def test_a_submission_server_that_cannot_check_tokens_for_now_causes_no_renewal(waiting, provider, submission, tokens):
    submission.token = ""
    submission.replies["AUTH"] = "454 4.7.0 later"
    assert sent(waiting, submission, tokens) == (0, 4)
    assert [why for *_, why in left(waiting)] == ["454 4.7.0 later"] * 4
    assert provider.asked == []


# The operator logs in


class Paused:
    """Waits without waiting, and keeps for how long."""

    def __init__(self):
        self.pauses = []

    def __call__(self, seconds):
        self.pauses.append(seconds)


PENDING = 400, {"error": "authorization_pending"}


def test_by_the_device_flow_the_operator_enters_a_code_anywhere(provider):
    shown = []
    login = log_in_by_device(provider.login, shown.append, Paused())
    assert shown == [f"Open {provider.url}/enter in a browser, on any machine, and enter the code ABCD-EFGH"]
    assert (login.access_token, login.refresh_token) == ("access-1", "refresh-1")
    assert provider.forms[0]["scope"] == "mail offline_access"


def test_the_provider_is_asked_as_often_as_it_wants_until_the_operator_has_agreed(provider):
    provider.refusals = [None, PENDING, (400, {"error": "slow_down"}), PENDING, (503, {})]
    paused = Paused()
    log_in_by_device(provider.login, [].append, paused)
    assert paused.pauses == [3, 3, 8, 8, 13]


@pytest.mark.parametrize(
    ("code", "complaint"),
    [("access_denied", "access_denied"), ("expired_token", "nobody has entered the code in time; begin again")],
)
def test_a_login_that_is_denied_or_comes_too_late_ends_in_a_sentence(provider, code, complaint):
    provider.refusals = [None, PENDING, (400, {"error": code})]
    with pytest.raises(LoginProblem, match=complaint):
        log_in_by_device(provider.login, [].append, Paused())


def test_what_a_provider_repeats_of_our_secrets_is_masked(provider):
    provider.refusals = [None, (400, {"error": "access_denied", "error_description": "the-device-code is denied"})]
    with pytest.raises(LoginProblem, match="access_denied: PASSWORD is denied"):
        log_in_by_device(provider.login, [].append, Paused())


def test_a_code_that_nobody_enters_ends_when_the_provider_has_said(provider, monkeypatch):
    seconds = count(step=400)
    monkeypatch.setattr("pbm.mail.consent.time.monotonic", lambda: next(seconds))
    provider.refusals = [None, PENDING, PENDING, PENDING]
    with pytest.raises(LoginProblem, match="nobody has entered the code in time"):
        log_in_by_device(provider.login, [].append, Paused())
    assert provider.asked == ["device", "device_code", "device_code"]


@pytest.mark.parametrize("missing", ["device_code", "user_code", "verification_uri"])
def test_an_answer_without_a_code_ends_in_a_sentence(provider, missing):
    whole = {"device_code": "a", "user_code": "b", "verification_uri": "c"}
    provider.refusals = [(200, {name: text for name, text in whole.items() if name != missing})]
    with pytest.raises(LoginProblem, match=f"127.0.0.1 has answered without a {missing}"):
        log_in_by_device(provider.login, [].append, Paused())


def by_browser(provider, change=lambda address: address):
    """A login whose operator pastes the address at which their browser ends, or a *changed* one."""
    shown = []
    provider.secret = "of-the-client"
    login = provider.login._replace(secret="of-the-client")
    return log_in_by_browser(login, shown.append, lambda: change(provider.browse(shown[1])) + "\n")


def test_by_the_browser_the_operator_pastes_an_address_and_proves_that_they_have_begun(provider):
    login = by_browser(provider)
    assert (login.access_token, login.refresh_token) == ("access-1", "refresh-1")
    assert provider.forms[0]["client_secret"] == "of-the-client"


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("", "not the address of the page"),
        ("http://[", "not the address of the page"),
        ("http://127.0.0.1/?state=mine&code=the-code", "belongs to another login"),
        ("http://127.0.0.1/?error=access_denied", "127.0.0.1 refuses: access_denied"),
    ],
)
def test_another_address_is_refused_in_a_sentence(provider, address, complaint):
    with pytest.raises(LoginProblem, match=complaint):
        by_browser(provider, lambda _: address)
    assert provider.asked == []


def test_a_login_that_could_not_be_renewed_is_refused(provider):
    provider.refusals = [None, (200, {"access_token": "access-1"})]
    with pytest.raises(LoginProblem, match="no refresh token; the scope may lack a word such as offline_access"):
        log_in_by_device(provider.login, [].append, Paused())


def test_secrets_go_over_tls_or_to_this_machine_and_nowhere_else():
    assert all(is_safe(url) for url in ("https://login.example/token", "http://127.0.0.1:8000/token"))
    assert not any(is_safe(url) for url in ("http://login.example/", "file:///etc/passwd", "https://", "http://[", ""))


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_addresses_of_known_providers_are_safe(name):
    known = PROVIDERS[name]
    assert is_safe(known.token_url)
    assert is_safe(known.device_url or known.browser_url)


# The operator's commands


@pytest.fixture
def options(provider):
    """The options that name a provider, which waits for nobody."""
    provider.interval = 0
    addresses = f"--token-url={provider.url}/token", f"--device-url={provider.url}/device"
    return ["--client=client-of-pbm", "--scope=mail offline_access", *addresses]


def test_mail_login_keeps_the_login_for_its_owner_alone_and_prints_no_token(shell, provider, options):
    file = shell.folder / "mailbox-login.json"
    assert shell.done("mail", "login", *options).splitlines() == [
        f"Open {provider.url}/enter in a browser, on any machine, and enter the code ABCD-EFGH",
        f"pbm is logged in at 127.0.0.1. The login is in {file}.",
        "",
        "The setting with which it is used:",
        "",
        f"PBM_OAUTH={file}",
    ]
    assert file.stat().st_mode & 0o777 == 0o600
    assert Tokens(file).read().access_token == provider.newest


def test_mail_login_without_options_logs_in_as_before(shell, provider, options, file):
    shell.environment["PBM_OAUTH"] = str(file)
    for _ in range(2):
        assert shell.done("mail", "login", *options).endswith(f"127.0.0.1. The login is in {file}.\n")
        options.clear()
    assert Tokens(file).read().access_token == "access-2"


def test_mail_login_at_google_takes_a_secret_and_an_address_from_standard_input(shell, provider, monkeypatch):
    monkeypatch.setitem(PROVIDERS, "google", provider.login._replace(client="", device_url=""))
    provider.secret = "of-the-client"
    line = "of-the-client\nhttp://localhost:53682/?error=access_denied\n"
    done = shell.run("mail", "login", "--provider=google", "--client=client-of-pbm", stdin=line)
    assert done.stdout.startswith(
        "Open this address in a browser, on any machine, and log in to the mailbox:\nhttp://127."
    )
    assert done.stderr == "The login has failed: 127.0.0.1 refuses: access_denied.\n"
    assert "of-the-client" not in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "A login needs --client=ID and --provider=google or --provider=microsoft"),
        (["--provider=microsoft"], "A login needs --client=ID"),
        (["--provider=microsoft", "--client=ID", "--token-url=http://a.example/"], "http://a.example/ is not https://"),
    ],
)
def test_mail_login_says_what_it_lacks(shell, words, complaint):
    assert shell.refused("mail", "login", *words).startswith(complaint)


def test_mail_login_begins_nothing_that_it_could_not_keep(shell, provider, options):
    why = shell.refused("mail", "login", *options, PBM_OAUTH="/nowhere/login.json")
    assert why == "The login cannot be written to /nowhere/login.json: there is no such file or folder.\n"
    assert provider.asked == []


def test_mail_is_fetched_by_the_command_with_the_login(shell, tokens):
    with serving(Mailbox("IMAP4rev1 AUTH=XOAUTH2 MOVE", password="access-1")) as port:
        url = f"imap://pbm@127.0.0.1:{port}"
        assert shell.done("fetch", url, PBM_OAUTH=str(tokens.path)) == "0 handled, 0 sent, 0 not sent.\n"


def test_a_password_that_is_set_goes_before_the_login(shell, tokens):
    with serving(Mailbox()) as port:
        url = f"imap://pbm@127.0.0.1:{port}"
        done = shell.run("fetch", url, PBM_OAUTH=str(tokens.path), PBM_IMAP_PASSWORD="another one")
    assert done.stderr == "The mailbox cannot be read: wrong password.\n"


def test_a_mail_server_with_a_user_needs_a_password_or_a_login(shell, tokens):
    way = {"PBM_TRANSPORT": "smtps://pbm@smtp.example"}
    assert "PBM_TRANSPORT_PASSWORD" in shell.refused("outbox", "flush", **way)
    assert shell.done("outbox", "flush", **way, PBM_OAUTH=str(tokens.path)) == "0 sent, 0 not sent.\n"


def test_status_doctor_and_settings_say_that_the_mailbox_asks_to_be_logged_in_again(shell, provider, tokens):
    shell.sign_up("alice")
    shell.environment["PBM_OAUTH"] = str(tokens.path)
    sentence = "The mailbox asks to be logged in again, by `pbm mail login`: 535 5.7.3 unsuccessful."
    for command in ("status", "doctor", "settings"):
        assert sentence not in shell.run(command).stdout
    with pytest.raises(LoginProblem):
        tokens.use(refusing("access-1", "access-2"))
    for command in ("status", "doctor", "settings"):
        done = shell.run(command)
        assert sentence in done.stdout
        assert done.returncode == 1
    assert "access-" not in shell.run("settings").stdout


def test_a_login_that_is_not_there_is_named(shell, file):
    shell.sign_up("alice")
    assert (
        f"There is no login in {file} yet; `pbm mail login` makes it."
        in shell.run("status", PBM_OAUTH=str(file)).stdout
    )
