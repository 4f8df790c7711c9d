"""The grammar of a line (docs/command-language.md, section 1)."""

import pytest

from pbm.language.line import Line
from pbm.refusals import Misused
from pbm.store.boards import BoardFilter

from helpers.members import SENDER, text_to

# Words


@pytest.mark.parametrize("words", ["symple move", "SYMPLE board", "Symple mvoe", "symple MOVE", "symple mOvE"])
def test_game_and_command_are_read_in_any_case(begun, words):
    begun.signs("alice", f"{words} 101 ME c3")
    assert begun.played() == ["c3"]


@pytest.mark.parametrize(
    "line",
    [
        "-size=5 symple challenge alice bob",
        "symple -size=5 challenge alice bob",
        "symple challenge alice -size=5 bob",
        "symple challenge alice bob -size=5",
        "symple challenge alice bob -si=5",
        "symple challenge alice bob -S=5",
    ],
)
def test_an_option_may_stand_anywhere_and_be_shortened(both_ways, line):
    both_ways.give("alice", line)
    assert both_ways.at().options["size"] == 5


def test_the_options_of_a_board_are_shown_as_they_were_typed(both_ways):
    both_ways.give("alice", "symple challenge alice -SI=5 --nag=3 bob")
    assert "Options: -SI=5 --nagtime=3" in text_to(SENDER, both_ways.give("alice", "symple show 101"))
    assert "-SI=5 --nagtime=3" in text_to(SENDER, both_ways.give("alice", "symple games"))


@pytest.mark.parametrize("option", ["-foo", "-size=4", "-size", "-size=", "-p=3", "-=5", "--foo=1", "--=1"])
def test_an_option_that_the_game_does_not_know_is_refused_and_named(four, option):
    told = four.refused("alice", f"symple challenge {option} alice bob")
    assert option.partition("=")[0] in told.text


@pytest.mark.parametrize("days", ["0", "-1", "x", "1.5", "3651", "٣", "1e2", ""])
@pytest.mark.parametrize("clock", ["nagtime", "forfeittime", "totaltime"])
def test_a_clock_takes_whole_days_from_1_to_3650(four, clock, days):
    assert f"--{clock}" in four.refused("alice", f"symple challenge --{clock}={days} alice bob").text


def test_json_and_comment_are_for_the_shell_and_by_mail_no_options(by_mail):
    by_mail.begin()
    assert "--json" in by_mail.refused("alice", "symple show --json 101").text
    assert "--comment" in by_mail.refused("alice", "symple chat --comment=hello 101 ME").text


@pytest.mark.parametrize("line", ["symple move 101 ME -size=5 c3", "symple move -nothing 101 ME c3"])
def test_a_command_without_options_refuses_them(begun, line):
    begun.refused("alice", line)


# Moves


@pytest.mark.parametrize("words", ["ME -e3,+f6", "alice - -e3"])
def test_a_word_in_the_place_of_the_move_or_a_bare_hyphen_is_no_option(both_ways, words):
    both_ways.begin("papagra challenge -size=3 alice bob")
    told = both_ways.refused("alice", f"papagra move 101 {words}")
    assert "option" not in told.text


@pytest.mark.parametrize("comma", [",", ", ", " ,", " , "])
def test_blanks_next_to_a_comma_belong_to_the_move(begun, comma):
    begun.plays("a1", "b4", "c3", "d4")
    begun.signs("alice", f"symple move 101 ME a2{comma}c4")
    assert begun.played()[-1] == "a2,c4"


@pytest.mark.parametrize("words", ["101 ME a1 c3", "101 ME [SPAM] c3", "101 ME c3 [EXTERNAL]"])
def test_more_words_than_one_move_are_refused_with_the_syntax(begun, words):
    assert "symple move BOARD USERID PASSWORD MOVE[#n]" in begun.refused("alice", f"symple move {words}").text


def test_in_a_preview_all_words_behind_the_board_are_moves(begun):
    [told] = begun.give("carol", "symple preview 101 a1 b2 c3")
    assert "2.    c3" in told.text
    told = begun.refused("carol", "symple preview 101 a1 -b2")
    assert "option" not in told.text


def test_in_a_preview_of_a_new_game_options_end_at_the_first_move(both_ways):
    [told] = both_ways.give("carol", "symple preview new 2 -size=5 -pen=6 a1 b2")
    assert "Options: -size=5 -pen=6" in told.text
    told = both_ways.refused("carol", "symple preview new 2 -size=5 a1 -pen=6")
    assert "-pen=6" in told.text
    both_ways.refused("carol", "symple preview new 3 -size=5")


@pytest.mark.parametrize("word", ["--", "pass", "PASS"])
def test_two_hyphens_alone_are_the_pass(begun, word):
    told = begun.refused("alice", f"symple move 101 ME {word}")
    assert "option" not in told.text
    assert told.subject == "Symple Board 101 Error"


# What mail programs and our own subjects add


@pytest.mark.parametrize(
    "subject",
    [
        "Re: Symple Board 101 alice alice-secret c3 **",
        "Re: Symple Board 101 alice ** alice-secret c3",
        "RE: re: AW: Fwd: FW: Sv: symple board 101 alice alice-secret c3",
        "Re[2]: Symple Board 101 alice alice-secret c3",
        "Re: New Symple Board 101 alice alice-secret c3",
        "New symple board 101 alice alice-secret c3",
        "Nag: Symple Board 101 alice alice-secret c3 **",
        "Re: Nag: Symple Board 101 alice ** alice-secret c3",
        "** symple move ** 101 alice alice-secret ** c3",
        "RE : symple move 101 alice alice-secret c3",
        "回复：Odp: symple move 101 alice alice-secret c3",
        "RE: [EXTERNAL] Re: symple move 101 alice alice-secret c3",
        "EXTERNAL: [EXT]: {Spam?} symple move 101 alice alice-secret c3",
        "***SPAM*** Re: symple move 101 alice alice-secret c3",
        "** Possible spam ** [pbm] AW: symple move 101 alice alice-secret c3 **",
        *(
            f"{prefix} symple move 101 alice alice-secret c3"
            for prefix in (
                "Antwort:",
                "ANTWORT:",
                "Antwort: Re:",
                "Svar:",
                "Réf. :",
                "Réf:",
                "RÉP.:",
                "RE(2):",
                "Re (2):",
                "Re^2:",
                "RE*3:",
                "Aw.:",
                "TR :",
                "Tr\u00a0:",
                "Vs:",
                "VL:",
                "Ynt:",
                "YANIT:",
                "İLT:",
                "Vá:",
                "Válasz:",
                "Odp:",
                "Odpověď:",
                "ODG:",
                "转发:",
                "回覆：",
                "Ответ:",
                "Απάντηση:",
                "WG: Antwort:",
                "Respuesta:",
                "RV:",
                "Risposta:",
                "R:",
                "I:",
                "Weitergeleitet:",
                "Fs:",
                "إعادة توجيه:",
                "השב:",
                "Forward:",
            )
        ),
    ],
)
def test_a_reply_to_a_board_mail_is_a_move_when_password_and_move_are_added(begun, subject):
    begun.give("alice", subject)
    assert begun.played() == ["c3"]


# Abbreviations and synonyms


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("symple challenge", "chall challe challen challeng CHALLENGE"),
        ("symple preview", "prev previ previe preview"),
        ("symple subscribe", "sub subs subsc subscr subscri subscrib"),
        ("symple unsubscribe", "unsub unsubs unsubscrib"),
        ("symple move", "board mvoe Board"),
        ("symple queue", "qmove qboard moveq boardq"),
        ("symple standings", "ratings"),
        ("signup", "add"),
        ("signoff", "delete"),
    ],
)
def test_some_commands_may_be_shortened_or_have_another_name(command, words):
    game = command.rpartition(" ")[0]
    assert [Line.read(f"{game} {word}").names for word in words.split()] == [command] * len(words.split())


@pytest.mark.parametrize(
    "word",
    ["cha", "chal", "challenges", "pre", "previews", "su", "subscriber", "unsu", "mov", "mo", "queu", "con", "res"],
)
def test_other_short_words_are_unknown(begun, word):
    assert f"`symple {word}`" in begun.refused("alice", f"symple {word} 101 ME c3").text


def test_an_option_that_can_be_two_is_refused_with_both_names_and_the_reminder_comes_before_the_forfeit(both_ways):
    told = both_ways.refused("alice", "symple challenge --n=3 alice bob")
    assert "--nagtime" in told.text
    assert "--name" in told.text
    assert "--nagtime" in both_ways.refused("alice", "symple challenge --nagtime=5 --forfeittime=5 alice bob").text
    assert "--nagtime" in both_ways.refused("alice", "symple challenge --forfeittime=7 alice bob").text
    both_ways.give("alice", "symple challenge --forfeittime=7 --nagtime=6 alice bob")
    assert (both_ways.at().row.nag_days, both_ways.at().row.forfeit_days) == (6, 7)


# Userids and passwords


@pytest.mark.parametrize(
    "word",
    "all new active inactive next board tournament standard accept reject nobody html spiro symple Sprout".split(),
)
def test_words_with_a_meaning_are_no_userids(four, word):
    four.refused("dora", f"signup {word} good-secret dave@players.example")


@pytest.mark.parametrize(
    "userid", ["x", "a" * 17, "1a", "a b", 'a"b', "a:b", "a'b", "a;b", "é1", "a/b", "-ab", "_ab", "ab'c"]
)
def test_a_userid_has_2_to_16_plain_characters_and_begins_with_a_letter(four, userid):
    four.refused("dora", f"signup {userid} good-secret dave@players.example")


@pytest.mark.parametrize(
    "password", ["short", "p" * 257, "a:colon", 'has"quote', "has'quote", "-hyphen", "at@an.example"]
)
def test_a_password_has_6_to_256_characters_without_quotes_and_colons_and_starts_with_no_hyphen(four, password):
    four.refused("dora", f"signup dave {password} dave@players.example")
    assert password not in four.refused("dora", f"change password ME {password}").text


# Boards


def test_boards_are_counted_up_from_101_in_each_game(both_ways):
    for game in ("symple", "symple", "spiro"):
        both_ways.give("alice", f"{game} challenge alice bob")
    boards = both_ways.store.boards.names(BoardFilter(["spiro", "symple"]))
    assert boards == [("spiro", "101"), ("symple", "101"), ("symple", "102")]


@pytest.mark.parametrize("name", ["../101", "101/../101", "*", "101;", "'101'", "a-1", "1a", "a", "101%", "¹⁰¹", "١٠١"])
def test_only_a_number_or_letters_and_digits_are_looked_up_as_a_board(begun, name):
    asked = []
    begun.store.db.set_trace_callback(asked.append)
    begun.refused("alice", f"symple move {name} ME c3")
    assert not [query for query in asked if "FROM boards" in query and "iterdump" not in query and name in query]


@pytest.mark.parametrize("command", ["show", "preview"])
@pytest.mark.parametrize(
    ("mark", "last"),
    [("#0", None), ("#1", "c3"), ("#2", "b1"), ("#9", "b1"), ("#-1", "c3"), ("#-2", None), ("#-9", None)],
)
def test_a_board_is_shown_after_n_moves_or_n_moves_ago(moved, command, mark, last):
    [told] = moved.give("carol", f"symple {command} 101{mark}")
    assert (f"Last turn: {last}\n" in told.text) if last else ("Last turn" not in told.text)


@pytest.mark.parametrize("mark", ["#", "#x", "#1.5", "#--1", "#+1", "#1#1", "#²", "#" + "9" * 12])
def test_what_is_no_number_behind_the_mark_is_refused(four, mark):
    four.begin()
    four.refused("carol", f"symple show 101{mark}")


@pytest.mark.parametrize("command", ["move", "queue", "submit"])
def test_a_move_is_accepted_only_as_the_number_that_it_is_meant_to_be(begun, command):
    begun.plays("c3")
    told = begun.refused("bob", f"symple {command} 101 ME b1#3")
    assert "move 3" in told.text
    assert "move 2" in told.text
    assert "Error" not in text_to(SENDER, begun.signs("bob", f"symple {command} 101 ME b1#2"))


@pytest.mark.parametrize("word", ["resign", "undo", "propose", "accept", "reject"])
def test_the_number_counts_for_the_words_in_the_place_of_a_move_too(moved, word):
    name = "alice" if word == "resign" else "bob"
    if word in {"accept", "reject"}:
        moved.signs("alice", "symple move 101 ME propose")
    assert "would be move 3" in moved.refused(name, f"symple move 101 ME {word}#2").text
    assert moved.signs(name, f"symple move 101 ME {word}#3")[0].subject != "Symple Board 101 Error"


def test_a_mark_at_the_end_belongs_to_the_move_and_a_queued_one_is_dropped_if_its_number_does_not_fit(begun):
    assert "c3#" in begun.refused("alice", "symple move 101 ME c3#").text
    begun.signs("bob", "symple queue 101 ME b1#4")
    told = begun.signs("alice", "symple move 101 ME c3")
    assert begun.played() == ["c3"]
    assert "meant as move 4, but it would be move 2" in text_to("bob", told)
    assert begun.at().plans == {}


@pytest.mark.parametrize("line", ["", "   ", "** **", "Re:", "nonsense", "symple", "101", "--", "-x", "symple --"])
def test_a_line_that_is_no_command_is_told_so(four, line):
    with pytest.raises(Misused, match="There is no"):
        four.say(line)
