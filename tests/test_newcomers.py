"""What newcomers type wrong, and how the answer leads on: in a shell and by mail."""

import pytest

from helpers.club import PASSWORDS
from helpers.examples import rules
from helpers.fixtures import set_up
from helpers.mail import handle, numbered_mail

SECRET = "carols-secret-9"


@set_up
def club_of_two_boards(both_ways):
    """Symple 101 and 102, and Spiro 101: bob is to move on Symple 102, alice on the others."""
    both_ways.made = 12
    both_ways.begin("spiro challenge -small -pieces=2 alice bob")
    both_ways.begin()
    both_ways.begin()
    both_ways.plays("c3", board="102")


def reason(told):
    """Why a command was refused, with single blanks."""
    return " ".join(told.text.partition("\n\n>")[0].split())


@pytest.mark.parametrize(
    ("line", "said"),
    rules("""
what was probably meant is named
    symple chalenge -size=5 alice bob | did you mean `symple challenge`?
    chalenge alice bob | did you mean `GAME challenge`?
    challenge alice bob | did you mean `GAME challenge`?
    challenge symple alice bob | did you mean `symple challenge`?
    propose 102 bob bob-secret | did you mean `GAME move BOARD USERID PASSWORD propose`?
    draw symple 102 | did you mean `symple move BOARD USERID PASSWORD propose`?
    resign 102 bob bob-secret | did you mean `GAME resign`?
    accept 102 bob bob-secret | did you mean `GAME accept`?
    symple rules | did you mean `symple help`?
    rules | did you mean `help`?
    symple standing | did you mean `symple standings`?
    symple rating | did you mean `symple standings`?
    simple standings | did you mean `symple`?
    symple signup zoe | did you mean `signup`?
    all shwo bob | did you mean `all show`?
    change pasword | did you mean `change password`?
    hello | did you mean `help`?
    Hello! How are you? | did you mean `help`?
    symple challenge, alice | did you mean `symple challenge`?
    symple replay 101 1 | did you mean `symple show`?
    symple 101 | did you mean `symple show`?
    101 | did you mean `GAME show`?
    symple alice move 101 ME c3 | did you mean `symple move`?
    alice challenge bob | did you mean `GAME challenge`? GAME is papagra, spiro, spora, sprout or symple; `help
    chess challenge alice bob | did you mean `GAME challenge`?
    tutorial | did you mean `help`?
    seekers | did you mean `all seekers`?
    symple seekers | did you mean `all seekers`?
    all challenge alice bob | did you mean `GAME challenge`?
    password alice ME better-secret | did you mean `change password`?
    dice 101 | There is no game '101'; a game stands in front of the board: papagra,
    list sprio | There is no game 'sprio'; did you mean spiro?
    symple challenge -sise=5 alice bob | There is no option '-sise=5'; did you mean -size=n?
    symple challenge --size=5 alice bob | There is no option '--size=5'; did you mean -size=n?
    symple challenge --nagtme=3 alice bob | There is no option '--nagtme=3'; did you mean --nagtime=DAYS?
    symple standings --plat=bob | There is no option '--plat=bob'; did you mean --plot=USERID?
    symple challenge --novacaton alice bob | There is no option '--novacaton'; did you mean --novacation?
    symple show 1O1 | There is no Symple board or user '1o1'; did you mean 101?
    symple show 120 | There is no Symple board '120'; did you mean 102?
    spiro show 102 | There is no Spiro board '102'; did you mean Symple board 102?
    symple move 1022 ME c3 | There is no Symple board '1022'; did you mean 102?
    help chalenge | There is no help on 'chalenge'; did you mean `help challenge`?
    help pool | There is no help on 'pool'; did you mean `help table`?
words that are split or copied are explained
    symple move | BOARD, USERID, PASSWORD and MOVE[#n] are missing.
    mail ME digset | did you mean digest?
    symple mail ME nonee | did you mean none?
    symple resign 101 | USERID and PASSWORD are missing.
    signup zoe | PASSWORD is missing.
    symple challenge size=5 alice bob | Too many words: 3 instead of 2; an option and its value are one word, such as -s
    symple challenge -size 5 alice bob | an option and its value are one word, such as -size=5.
    sprout challenge -board 5 alice bob | an option and its value are one word, such as -board=limping-3.
    spiro challenge -pieces 3 alice bob | an option and its value are one word, such as -pieces=1.
    sprout seek ME 2 --options=cairo-1 | 'cairo-1' is no option; an option begins with a hyphen, such as -board=limping
    symple challenge alice bob carol | Too many words: 3 instead of 2. The command is written:
    symple move 101 ME c3 d4 | a move has commas between its parts, and no blanks.
    Game challenge alice bob | GAME is a placeholder; write the name of one in its place: papagra, spiro,
    """),
)
def test_what_a_newcomer_types_is_refused_with(club_of_two_boards, line, said):
    assert said in reason(club_of_two_boards.refused("alice", line))


@pytest.mark.parametrize(
    ("line", "said"),
    rules("""
a user, a pool or a selector that is nearly right is named
    symple challenge alice robot-2 | There is no user 'robot-2'; did you mean robot2?
    symple challenge Alcie bob | There is no user 'alcie'; did you mean alice?
    block ME boob | There is no user 'boob'; did you mean bob?
    all games alise | There is no user 'alise'; did you mean alice?
    all show ailce | There is no user 'ailce'; did you mean alice?
    symple standings --plot=alic | There is no user 'alic'; did you mean alice?
    symple games alice actve | There is no Symple board or user 'actve'; did you mean active?
    symple show alicee | There is no Symple board or user 'alicee'; did you mean alice?
where nothing is near, nothing is guessed
    symple challenge alice zzz | There is no user 'zzz'.
    symple challenge alice guest-1 | There is no user 'guest-1'.
    symple move 101 alcie alice-secret c3 | The userid or the password is wrong.
    hi | There is no game or command 'hi'; `help commands` lists all commands.
    symple nonsense | There is no command `symple nonsense`; `help commands` lists all commands.
    symple quit | There is no command `symple quit`; `help commands` lists all commands.
    symple | There is no command behind `symple`; `help commands` lists all commands.
    all | There is no command behind `all`; `help all` lists the commands behind `all`.
    symple echo | There is no command `symple echo`; `help commands` lists all commands.
    symple alice bob | There is no command `symple alice`; `help commands` lists all commands.
    symple show 777 | There is no Symple board '777'.
    list chess | There is no game 'chess'; there are papagra, spiro, spora, sprout, symple.
    symple challenge -x alice bob | There is no option '-x'; this game has -size=n, -penalty=n.
a placeholder that was copied from the help is named
    signup zoe PASSWORD | PASSWORD is a placeholder; write a password of your own in its place.
    signup zoe password | password is a placeholder; write a password of your own in its place.
    signup zoe NEWPASSWORD | NEWPASSWORD is a placeholder; write a password of your own in its place.
    signup zoe USERID | USERID is a placeholder; write a password of your own in its place.
    signup zoe CODE | CODE is a placeholder; write a password of your own in its place.
    signup userid sesame-9 | userid is a placeholder; write a name of your own in its place.
    signup USERID PASSWORD | USERID is a placeholder; write a name of your own in its place.
    signup Password sesame-9 | Password is a placeholder; write a name of your own in its place.
    change password ME NEWPASSWORD | NEWPASSWORD is a placeholder; write a password of your own in its place.
    reset alice CODE sesame-9 | CODE is a placeholder; write the code that was mailed to you in its place.
    confirm-address CODE | CODE is a placeholder; write the code that was mailed to you in its place.
    symple move 101 alice PASSWORD c3 | PASSWORD is a placeholder; write your password in its place.
    symple move 101 nobody PASSWORD c3 | PASSWORD is a placeholder; write your password in its place.
    symple queue 101 bob bob-secret MOVE#2 | MOVE is a placeholder; write your move in its place (d2 is one
    symple plan 101 bob bob-secret if any then move | move is a placeholder; write your move in its place
the word that stands for a move is none
    symple move 101 alice alice-secret MOVE#1 | Cannot read 'move'; write one point, such as c3, or several
    symple move 101 alice alice-secret MOVE | Cannot read 'move'; write one point, such as c3, or several
    symple move 101 alice alice-secret <move>#1 | Cannot read '<move>'; write one point, such as c3, or several
    symple submit 101 alice alice-secret MOVE | Cannot read 'move'; write one point, such as c3, or several
    symple preview 101 MOVE | Cannot read 'move'; write one point, such as c3, or several
    """),
)
def test_what_a_newcomer_types_is_refused_in_words_that_begin(club_of_two_boards, line, said):
    assert reason(club_of_two_boards.refused("alice", line)).startswith(said)


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("symple accept 102 bob bob-secret", "symple move 102 bob PASSWORD accept"),
        ("Symple REJECT 102 bob bob-secret", "symple move 102 bob PASSWORD reject"),
        ("symple draw 102 bob bob-secret", "symple move 102 bob PASSWORD propose"),
        ("symple propose 102 bob bob-secret", "symple move 102 bob PASSWORD propose"),
        ("symple undo 102 bob bob-secret", "symple move 102 bob PASSWORD undo"),
        ("symple unresign 102 bob bob-secret", "symple move 102 bob PASSWORD unresign"),
        ("symple accept a1 bob bob-secret", "symple move a1 bob PASSWORD accept"),
        ("symple undo", "symple move BOARD USERID PASSWORD undo"),
        ("symple draw 102 bob", "symple move BOARD USERID PASSWORD propose"),
    ],
)
def test_a_vote_that_is_typed_as_a_command_is_led_to_the_line_that_gives_it(club_of_two_boards, typed, line):
    told = club_of_two_boards.refused("bob", typed)
    assert f"\n  {line}\n" in told.text
    assert "bob-secret" not in told.text


@pytest.mark.parametrize("word", ["draw", "propose", "undo", "unresign"])
def test_the_help_on_a_word_that_stands_in_the_place_of_a_move_is_that_of_the_move(shell, word):
    assert shell.run("help", word).stdout == shell.run("help", "move").stdout


def test_the_line_that_a_vote_is_led_to_gives_it(club_of_two_boards):
    typed = f"symple accept 102 bob {PASSWORDS['bob']}"
    club_of_two_boards.say(f"symple move 102 alice {PASSWORDS['alice']} propose")
    lines = club_of_two_boards.refused("bob", typed).text.splitlines()
    led = next(line.strip() for line in lines if line.startswith("  symple move"))
    club_of_two_boards.signs("bob", led.replace("bob PASSWORD", "ME"))
    assert club_of_two_boards.at("102").is_over


@pytest.mark.parametrize("line", [
    f"symple accept 102 {SECRET} bob", f"symple accept bob {SECRET} 102", f"symple accept alice1 {SECRET} 102",
    f"symple propose {SECRET} bob 102", f"symple undo 102 {SECRET} bob", f"symple draw bob {SECRET} 102",
    f"propose 102 bob {SECRET}", f"symple chalenge bob {SECRET}", f"symple show bob {SECRET}",
])  # fmt: skip
def test_what_leads_on_never_says_a_password_wherever_it_stands(club_of_two_boards, line):
    told = club_of_two_boards.refused("carol", line)
    if not line.startswith("symple show"):  # which has no password that could be in the wrong place
        assert SECRET not in told.text + told.subject


def test_a_strangers_hello_is_answered_and_sent_to_help(pair):
    for subject in ("hello", "Good evening"):
        before = len(pair.mails())
        handle(pair.server, numbered_mail(subject, "How do I play here?", "stranger@far.example"), None)
        [answer] = pair.mails()[before:]
        assert answer.address == "stranger@far.example"
        assert answer.text.rstrip().splitlines()[-1] == "help"


def test_the_line_below_a_board_is_quoted_as_it_was_sent_and_what_is_near_a_password_is_told_to_nobody(
    club_of_two_boards,
):
    line = "symple move 101 alice PASSWORD MOVE#1"
    assert f"> {line}" in club_of_two_boards.refused("alice", line).text.splitlines()
    for name in ("alice", "bob"):  # whoever is to move
        told = club_of_two_boards.refused(name, "symple move 102 ME draw")
        assert reason(told).startswith("To propose a draw, write `propose` in the place of the move.")
    for name in ("secret1", "secret2"):
        club_of_two_boards.say(f"symple challenge --name={name} alice bob")
    assert "did you mean" not in club_of_two_boards.refused("alice", "symple move secret3 ME c3").text


def test_a_placeholder_is_no_password_that_the_operator_can_set_either(shell):
    shell.sign_up("alice")
    done = shell.run("users", "password", "alice", stdin="PASSWORD\n")
    assert (done.returncode, done.stderr.partition("\n")[0]) == (
        1,
        "PASSWORD is a placeholder; write a password of your own in its place.",
    )


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("tournement symple", 2, "did you mean `pbm tournament`?"),
        ("symple doctor 101", 2, "did you mean `pbm doctor`?"),
        ("replay 101 1", 2, "There is no game '101'; a game stands in front of the board: papagra, spiro, "),
        ("replay symple 101 1", 2, "Usage: pbm replay [OPTIONS] GAME BOARD"),
        ("symple pla 101", 2, "did you mean `symple plan`?"),
        ("symple echo", 2, "There is no command `symple echo`; `help commands` lists all commands."),
        ("outbox lst", 2, "Did you mean 'list'?"),
        ("robots ad x", 2, "Did you mean 'add'?"),
        ("robots pause robot-2", 1, "robot-2 is no robot; did you mean robot2?"),
        ("users remove robbot", 1, "There is no user 'robbot'; did you mean robot?"),
        ("all sekers", 2, "did you mean `all seekers`?"),
        ("all nonsense", 2, "`help all` lists the commands behind `all`."),
        ("wait sprio 101", 2, "did you mean spiro?"),
        ("referee sprio", 2, "did you mean spiro?"),
        ("promises sprio", 2, "did you mean spiro?"),
    ],
)
def test_the_operator_is_told_what_he_probably_meant_too(shell, line, status, said):
    shell.sign_up("alice")
    done = shell.run(*line.split())
    assert done.returncode == status
    assert said in " ".join(done.stderr.split())
