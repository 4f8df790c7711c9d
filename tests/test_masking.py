"""Passwords in texts that go out: which words are masked, and which prose stays as it is."""

from itertools import product

import pytest

import games
from pbm.language import masking
from pbm.language.commands import root
from pbm.language.line import Line
from pbm.texts import reason_without, without

from helpers.grammar import commands_of
from helpers.mail import ALICE, answer, handle, message, outcome_of, reply_address

USERS = {"alice", "bob", "carol"}
SECRETS = ["secret1", "swordfish", "sesame-1", "hUnter_2!", "271828"]


def masked(text):
    return masking.without_passwords(text, USERS.__contains__).text


LINE = "symple move 101 alice KEY e5"
FORMS = [
    f"Yesterday I tried {LINE}",
    f"Dear Bob, ({LINE}) was refused, e.g. on Monday.",
    f"Subject: {LINE}",
    f"Subject : {LINE}",
    f"Re: {LINE}",
    f"$ bin/{LINE}",
    f"alice@host:~$ {LINE}",
    f"/usr/local/bin/{LINE}",
    f"pbm {LINE}",
    f"* {LINE}",
    f"- {LINE}",
    f"1. {LINE}",
    f"> {LINE}",
    "> symple move 101 alice\n> KEY e5",
    f'"{LINE}"',
    f"\u201c{LINE}\u201d",
    f"`{LINE}`",
    f"**{LINE}**",
    f"_{LINE}_",
    f"<b>{LINE}</b>",
    f"| {LINE.replace(' ', ' | ')} |",
    "`symple` `move` `101` `alice` `KEY` `e5`",
    '["symple", "move", "101", "alice", "KEY", "e5"]',
    "symple\nmove 101 alice KEY e5",
    "symple move\n101 alice KEY e5",
    "symple move 101\nalice KEY e5",
    "symple move 101 alice\nKEY e5",
    LINE.replace(" ", "\n"),
    LINE.replace(" ", "\t"),
    LINE.replace(" ", "\u00a0"),
    LINE.replace(" ", "\u2003"),
    LINE.replace(" ", "   "),
    LINE.replace(" ", "%20"),
    LINE.replace(" ", "&nbsp;"),
    f"mailto:pbm@pbm.example?subject={LINE.replace(' ', '%20')}%231",
    f"multiple\nsymple show 101\n{LINE}\nend",
    "SYMPLE MOVE 101 ALICE KEY E5",
    "Symple Board 101 alice KEY e5",
    "symple qmove 101 alice KEY e5",
    "symple mvoe 101 alice KEY e5",
    "symple sub 101 alice KEY",
    "symple unsub all alice KEY",
    "symple: move 101 alice KEY e5",
    "symple move: 101 alice KEY e5",
    "symple move 101, alice, KEY, e5",
    "symple move 101 alice: KEY e5",
    "symple move 101 alice (KEY) e5",
    'symple move 101 "alice" "KEY" e5',
    "symple move 101#3 alice KEY e5",
    "symple move #101 alice KEY e5",
    "symple move board 101 alice KEY e5",
    "symple move a1 alice KEY e5",
    "symple confirm 101 alice\n\nKEY",
    "\uff53\uff59\uff4d\uff50\uff4c\uff45 move 101 alice KEY e5",
    "symple move 101 nobody-here KEY e5",
    "symple mov 101 alice KEY e5",
    "sympel move 101 alice KEY e5",
    "symple 101 alice KEY e5",
    "I typed move 101 alice KEY e5 and nothing came",
    "101 alice KEY e5",
    "I wrote 101 alice KEY e5",
    "KEY alice 101",
    "101 alice\nKEY",
    "101: alice / KEY",
    "symple preview 101 alice KEY e3",
    "alice password: KEY",
    "alice pw KEY",
    "password of alice is KEY",
    "alice's password is KEY",
    "Password = KEY",
    "signup nobody-here KEY",
    "Antwort: signup nobody-here KEY",
    "RE(2): signup nobody-here KEY",
    "I did signup alice KEY and it worked",
    "please change password alice KEY KEY",
    "add alice KEY",
    "delete alice KEY",
    "symple=\nmove 101 alice=\nKEY e5",
    "symple move 101 alice KEY=\nxx e5",
    "101 alice <KEY>",
    "PASSWORD=KEY",
    "my PASSWORD: KEY",
    "Contraseña: KEY",
]  # fmt: skip
"""What people write around a command, or instead of one; ``KEY`` is where the password is."""


@pytest.mark.parametrize("secret", SECRETS)
def test_a_password_is_found_whatever_stands_around_it(secret):
    for form in FORMS:
        found = masked(form.replace("KEY", secret))
        assert secret not in found
        assert secret[:5] not in found.lower().replace("password", "")


@pytest.mark.parametrize("form", ["KEY alice 101", "101 alice KEY", "symple move 101 alice KEY e5"])
def test_a_password_may_hold_what_separates_words(form):
    for secret in ("Tr0ub4dor&3", "ab,cd/long", "ab:swordfish", "(secret)x"):
        assert secret not in masked(form.replace("KEY", secret))


EVERY = [*commands_of(root), *commands_of(root.game, "symple ")]
GIVEN = {"board": "101", "boards": "101", "userid": "alice", "password": "?", "new_password": "?"}
LINES = [
    f"{name} {' '.join(GIVEN.get(word, 'e5') for word in way)}"
    for name, command in EVERY
    for way in command.ways
    if {"password", "new_password"} & {*way}
]
"""Every command with a password, ``?``, as its own declaration has it."""


def test_most_commands_have_a_password_which_is_found_in_a_line_for_the_log_where_nobody_knows_who_is_a_user():
    assert len(LINES) >= 25
    for line, secret in product(LINES, SECRETS):
        assert secret not in Line.read(line.replace("?", secret)).masked().text


def test_a_user_whom_a_command_is_about_is_no_secret():
    lines = [Line.read(f"{name} alice99") for name, _ in EVERY]
    about = [line for line in lines if line.passwords() == []]
    named = {line.typed for line in about}
    assert {"symple games alice99", "symple history alice99", "symple standings alice99"} <= named
    for line in about:
        assert line.masked({"alice99"}.__contains__).secrets == []


@pytest.mark.parametrize(
    "form", ["{}", "Yesterday I tried {}", "> {}", "`{}`", "pbm {}", "$ bin/{}", "Subject : {}", "Then:\n\n  {}\n\nBye"]
)
def test_the_password_of_every_command_is_found(form):
    for line, secret in product(LINES, SECRETS):
        assert secret not in masked(form.format(line.replace("?", secret)))


def test_a_password_of_signs_alone_is_found_and_nothing_beside_it():
    for front, secret in product(("", "Yesterday I tried "), ("!?!$\u00a7%&/()", "$!$!?#+*", "(;-)(;-)")):
        assert masked(f"{front}symple move 101 alice {secret} c3") == f"{front}symple move 101 alice PASSWORD c3"


@pytest.mark.parametrize("words", ["alice alice-secret", "alice-secret alice", "alice alice-wrong"])
@pytest.mark.parametrize("line", ["symple move 101 {} a1", "symple games {}", "all show {}", "symple subscribe {} 101"])
def test_no_word_that_may_be_a_password_is_logged_of_a_mail_whether_it_was_right_or_not(pair, words, line):
    outcome = outcome_of(pair.server, message(line.format(words)), ALICE)
    assert "alice-" not in outcome.command
    assert outcome.command.startswith(line.partition(" ")[0])


@pytest.mark.parametrize("line", [
    "spiro move 101 x7Kp2-9qZ alice 5", "spiro move x7Kp2-9qZ 101 alice 5", "spiro resign alice x7Kp2-9qZ 101",
    "spiro challenge -password=x7Kp2-9qZ alice bob",
])  # fmt: skip
def test_a_password_in_the_wrong_place_is_neither_said_back_nor_logged_though_its_letters_stand_apart(pair, line):
    for raw in (message(line), message("multiple", line)):
        outcome = outcome_of(pair.server, raw, ALICE)
        said = f"{outcome.command} {outcome.reason} {pair.mails()[-1].text}"
        assert ("PASSWORD" in said, "x7kp2-9qz" in said.lower()) == (True, False)


def test_a_password_behind_the_board_that_is_subscribed_is_not_logged(pair):
    for line in ("spiro subscribe 101 carol carol-secret", "spiro unsubscribe all carol carol-secret"):
        outcome = outcome_of(pair.server, message(line), ALICE)
        assert (outcome.shown_word, outcome.command) == ("done", line.replace("carol-secret", "PASSWORD"))


def test_the_log_says_why_an_answer_was_refused_with_its_commands_and_without_its_passwords(pair):
    def why(line):
        address = reply_address(pair)
        return outcome_of(pair.server, message("Re: New Spiro Board 101 alice", line), None, [address]).reason

    assert why("confirm") == "There is no submitted move to confirm."
    assert why("sw0rdfish").count("PASSWORD") == 1
    assert "PASSWORD" in why("plan\n\nspiro move 101 alice alice-secret 5")
    assert "alice-secret" not in str(pair.mails()[-1])
    outcome = outcome_of(pair.server, message("list alice-secret"), ALICE)
    assert outcome.reason.startswith("There is no game 'PASSWORD'; ")


@pytest.mark.parametrize(
    "line",
    ["symple preview 101 alice ? e3", "symple show alice ?", "symple games alice ?", "message alice bob ?",
     "symple 101 alice ? e5", "symple seek alice ? 3 --options=?", "Subject : symple move 101 alice ? e5"],
)  # fmt: skip
def test_a_line_for_the_log_says_no_word_that_may_be_a_password(line):
    for secret in SECRETS[:3]:
        assert secret not in Line.read(line.replace("?", secret)).logged(USERS.__contains__)


@pytest.mark.parametrize(
    "quoted", ['"{}"', "'{}'", "`{}`", "({})", "\u201c{}\u201d", "\u201e{}\u201c", "\u00ab{}\u00bb"]
)
def test_a_command_that_is_quoted_in_the_middle_of_a_line_loses_its_password_also_before_its_userid_is_known(quoted):
    assert "swordfish" not in masked(f"It says that {quoted.format('signup eve swordfish')} was refused.")


@pytest.mark.parametrize(
    "prose",
    [
        "I beat alice on board 101 yesterday",
        "I beat alice on board 101 yesterday evening, wonderful.",
        "Call 5551234, bob",
        "Shall we continue on board 102 instead, alice?",
        "Symple is my favourite game, together with Papagra.",
        "I accept your challenge gladly, alice, and thank you.",
        "On board 101 I should have moved earlier.",
        "The message from alice arrived yesterday, thanks.",
        "I am on vacation until Monday and cannot move before.",
        "My last move was terrible; alice would have resigned.",
        "In symple move order is important sometimes.",
        "Board 101 was interesting, board 102 was boring.",
        "alice and bob drew on 101 although everybody expected otherwise",
        "I forgot my password yesterday.",
        "We could change sides after the tournament.",
        "Did you see what carol played against alice on board 205? Incredible.",
        "There is no limit to what you can learn in Symple games.",
        "Good luck, bob! Greetings from Cologne, alice",
        "After move 101 everything was decided.",
        "My rating went from 1600 to 1650 because of alice.",
        "What does help tell about signup? I never understood.",
        "Accept my apologies for the delay.",
        "Well played at c3,d4,e5; my answer would have been f6.",
        "See https://pbm.example/games/101?move=12 for the position.",
        "Symple moves are simple; alice knows.",
        "In Symple games 101 through 105 I lost.",
        "Symple with alice is a pleasure, bob",
        "On 101 alice e3:5,c6 would have been better.",
        "After e5 alice resigned immediately; a1 alice, b2 bob.",
        "I read <b>all</b> of it on board 101 <i>again</i>.",
        "x=3=\n4 and more",
    ],
)
def test_prose_without_a_command_stays_as_it_is(prose):
    assert masked(prose) == prose
    assert masked(f"Hello bob,\n\n{prose}\n\nalice") == f"Hello bob,\n\n{prose}\n\nalice"


def test_passwords_are_masked_wherever_they_stand_the_longest_first_and_the_rest_stays_as_it_was_typed():
    text = "Hello  bob,\n\n> symple move 101 alice secret1 e5#3\n\n\tThat is\u00a0all.\n"
    assert masked(text) == text.replace("secret1", "PASSWORD")
    assert masked("symple move 101 alice secret1 e5\n\nIs secret1 wrong?") == (
        "symple move 101 alice PASSWORD e5\n\nIs PASSWORD wrong?"
    )
    assert without("my secret and secret2", ["secret", "secret2", ""]) == "my PASSWORD and PASSWORD"


def test_the_lines_of_a_multiple_that_is_refused_are_masked_as_commands_also_where_a_board_is_missing(pair):
    lines = "spiro chat alice sesame!word\nspiro games"
    handle(pair.server, message("multiple", lines, "stranger@players.example"), None)
    assert "> multiple\n> spiro chat alice PASSWORD\n> spiro games\n" in pair.mails()[-1].text


def test_a_word_too_short_for_a_password_is_masked_only_as_a_word(pair):
    handle(pair.server, message("spiro analyse 101 a b", "a bad boy"), None)
    quoted = "> spiro analyse 101 PASSWORD PASSWORD\n> PASSWORD bad boy\n"
    assert quoted in pair.mails()[-1].text


# What others, and the sender, are told


@pytest.mark.parametrize(
    "comment",
    [
        "Yesterday I tried spiro move 101 alice secret1 e5",
        "Subject: spiro move 101 alice secret1 e5",
        "$ bin/spiro move 101 alice secret1 e5",
        "* spiro move 101 alice secret1 e5",
        "Yesterday I tried spiro 101 alice secret1 e5",
        '"spiro move 101 alice secret1 e5"',
        f"{'long ' * 12} spiro move 101 alice secret1{'x' * 150}secret1 e5",
        "spiro move 101 alice\nsecret1 e5",
    ],
)
def test_no_password_in_a_comment_reaches_the_opponent(pair, comment):
    handle(pair.server, message("spiro move 101 alice alice-secret e3:5", comment), None)
    told = "".join(mail.text + mail.blocks for mail in pair.mails("bob"))
    assert "alice writes:" in told
    assert "secret1" not in told


@pytest.mark.parametrize(
    ("subject", "body", "shown"),
    [
        ("spiro preview 101 alice ? e3", "", "PASSWORD"),
        ("spiro preview 101 alice ?,x e3", "", "PASSWORD"),
        ("spiro move alice ? e3:4 e4", "", "> spiro move alice PASSWORD e3:4 e4"),
        ("spiro move 101 ?-and-more alice e3:4", "", "> spiro move 101 PASSWORD PASSWORD e3:4"),
        ("message alice ? alice ? bob", "", "PASSWORD"),
        ("spiro move -to=? 101 alice ? 5", "", "> spiro move -to=PASSWORD 101 alice PASSWORD 5"),
        ("spiro 101 alice ? e3", "", "> spiro 101 \u2026"),
        ("sprio move 101 alice ? e3", "", "> sprio move \u2026"),
        ("", "spiro move 101 alice\n? e7", "PASSWORD"),
        ("", "spiro move 101\nalice ? e7", "PASSWORD"),
        ("", "signup alice\n?", "PASSWORD"),
        ("spiro move 101 alice", "? e7", "PASSWORD"),
        ("spiro move 101", "alice ? e7", "PASSWORD"),
        ("Re: Spiro Board 101 alice", "? e7", "PASSWORD"),
        ("? e7", "", "PASSWORD"),
        ("hello", "? e7", "PASSWORD"),
        ("", "?", "PASSWORD"),
        ("hello", "spiro accet alice: sesame", "PASSWORD"),
        ("Re: Spiro Board 101 alice", "change passwod alice sesame ?", "PASSWORD"),
        ("alice sesame on", "", "> alice PASSWORD \u2026"),
        ("multiple", "spiro move 101 alice\n? e7", "PASSWORD"),
    ],
)
def test_no_password_comes_back_to_the_sender(pair, subject, body, shown):
    for secret in ("sesame-1", "Sesame-1", "Sesame1-and-what-is-longer-than-a-quotation"):
        typed = (text.replace("?", secret) for text in (subject, body))
        handle(pair.server, message(*typed, message_id=f"<{secret}@x>"), None)
        told = pair.mails()[-1]
        assert told.address == ALICE
        assert shown in told.text
        assert "sesame" not in (told.text + told.subject).lower()


@pytest.mark.parametrize(
    "line",
    ["? e7", "e7 ?", "? , e7", "e7,?", "alice ? e7", "101 alice ? e3:5", "move ? e7", "spiro move 101 alice ? e7", "?"],
)
def test_no_password_in_an_answer_to_a_board_mail_comes_back(pair, line):
    for secret in ("sesame-1", "Sesame-1"):
        answer(pair, line.replace("?", secret))
        told = pair.mails()[-1]
        assert "PASSWORD" in told.text
        assert "sesame" not in (told.text + told.subject).lower()


@pytest.mark.parametrize("line", ["e3:9", "resing", "e3:5,c6:4", "I think you win", "+f6,-e33", "d2@nnen"])
def test_what_is_no_password_in_an_answer_to_a_board_mail_is_said_back(pair, line):
    answer(pair, line)
    assert f"\n> {line}\n" in pair.mails()[-1].text


def reason_of(club):
    """Why the last mail was refused, without the quotation of it, on one line."""
    return " ".join(club.mails()[-1].text.partition("\n>")[0].split())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("My comment goes without saying between friends", "without blanks between its parts. A comment stands below"),
        ("Please write blanks, parts and something different", "without blanks between its parts."),
        ("COMMENT WITHOUT BLANKS", "without blanks between its parts. A comment stands below it."),
        ("confirm without letters", "`confirm` stands alone in the first line."),
        ("give something written", "This is written `give DAYS`."),
    ],
)
def test_the_words_of_a_refusal_stay_though_the_writer_of_an_answer_has_used_them(pair, line, sentence):
    answer(pair, line)
    assert sentence in reason_of(pair)
    assert "PASSWORD" not in reason_of(pair)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("spiro move 101 alice commas between blanks", "a move has commas between its parts, and no blanks."),
        ("spiro move alice written command", "MOVE[#n] is missing. The command is written: spiro move BOARD USERID"),
        ("reset alice missing command", "This code is wrong or too old; `reset alice` mails a new one."),
        ("spiro undo 101 belongs challenges", "`undo` belongs in the place of a move:"),
        ("signup written", "PASSWORD is missing. The command is written: signup USERID PASSWORD"),
    ],
)
def test_the_words_of_a_refusal_stay_though_the_line_of_a_command_has_them(pair, line, sentence):
    handle(pair.server, message(line), None)
    assert sentence in reason_of(pair)


def test_what_a_refusal_quotes_is_masked_also_where_the_word_is_one_of_its_own():
    assert reason_without("Cannot read 'written,x'; it is written like c3.", ["written"]) == (
        "Cannot read 'PASSWORD,x'; it is written like c3."
    )
    assert reason_without("The board's \"it's\" isn't theirs.", ["theirs"]) == "The board's \"it's\" isn't theirs."
    assert reason_without("There is no 'Theirs' here, nor a sesame-1.", ["theirs", "sesame-1"]) == (
        "There is no 'PASSWORD' here, nor a PASSWORD."
    )


def test_a_word_of_letters_in_a_plan_does_not_come_back(pair):
    for line in ("plan if e3:5 then e4 if swordfish", "if e3:5 then swordfish. if e4 then e5", "plan swordfish"):
        answer(pair, f"{line}, alice sesame")
        assert "swordfish" not in reason_of(pair)


@pytest.mark.parametrize("front", ["signup carl", "change password alice alice-secret", "reset alice", "signoff alice"])
@pytest.mark.parametrize("body", ["", "spiro games"])
def test_no_word_of_a_password_with_blanks_comes_back_or_is_logged(pair, front, body):
    for words in ("two words", "my secret pass", "correct horse", "correct horse a@b battery"):
        line = f"{front} {words}"
        raw = message("multiple", f"{line}\n{body}") if body else message(line)
        outcome = outcome_of(pair.server, raw, ALICE)
        assert f"> {front.removesuffix(' alice-secret')} PASSWORD" in pair.mails()[-1].text
        if front == "signup carl":  # below the subject, too
            handle(pair.server, message(front, words), None)
            assert f"\n> {' '.join(['PASSWORD'] * len(words.split()))}\n" in pair.mails()[-1].text
        told = {*f"{pair.mails()[-1].text} {outcome.command} {outcome.reason}".replace("'", " ").split()}
        assert not told & {*words.split()} - {"a@b"}


@pytest.mark.parametrize(("subject", "body"), [("", "signup alice\nswordfish"), ("signup alice", "swordfish")])
def test_a_password_of_letters_alone_is_found_behind_the_line_above_it(pair, subject, body):
    handle(pair.server, message(subject, body), None)
    assert "\n> PASSWORD\n" in pair.mails()[-1].text
    assert "swordfish" not in pair.mails()[-1].text


def test_a_line_of_multiple_says_no_password_back_and_one_that_names_no_command_only_its_first_two_words(pair):
    lines = "spiro preview 101 alice sesame-1 e3\nspiro 101 alice sesame-1 e5\nspiro move 102 alice sesame-1 e3"
    handle(pair.server, message("multiple", lines), None)
    assert pair.mails()[-1].text.count("> spiro") == 3
    assert "sesame" not in pair.mails()[-1].text
    handle(pair.server, message("spiro challange alice bob"), None)
    assert "\n> spiro challange \u2026\n" in pair.mails()[-1].text
    handle(pair.server, message("spiro challange"), None)
    assert "\n> spiro challange\n" in pair.mails()[-1].text


def test_an_option_is_no_password_in_the_log_nor_is_prose_in_an_answer(pair):
    line = Line.read("spiro challenge -pieces=5 alice bob")
    assert line.logged(USERS.__contains__) == line.typed
    handle(pair.server, message("", "Dear server,\nI would like to play"), None)
    assert "\n> Dear server," in pair.mails()[-1].text
    assert "PASSWORD" not in pair.mails()[-1].text


@pytest.mark.parametrize("header", ["Subject : ", "subject\t: ", "Subject:", "Subject: Re : "])
def test_a_blank_in_front_of_the_colon_of_the_subject_changes_nothing(pair, header):
    raw = message("X", message_id="<1@x>").replace(
        b"Subject: X", f"{header}spiro move 101 alice sesame-1 e3:5".encode()
    )
    handle(pair.server, raw, None)
    answer = pair.mails()[-1].text
    assert "The userid or the password is wrong." in answer
    assert "sesame" not in answer


@pytest.mark.parametrize("words", ["give 101 bob", "subscribe bob 101", "CONFIRM alice 101"])
@pytest.mark.parametrize("game", games.names())
def test_the_names_of_a_game_and_its_command_are_no_passwords_also_where_nobody_is_known(game, words):
    assert masking.without_passwords(f"{game} {words}", None).text == f"{game} {words}"
