"""Checksums of boards: what pbm has written is known to be that, and what somebody else has changed is not."""

import json
import re
from pathlib import Path
from random import Random
from sqlite3 import IntegrityError

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import games
import pbm
from pbm.actions.cleanup import clean_up
from pbm.admin import doctor
from pbm.admin.doctor import looked_at
from pbm.board.board import Board
from pbm.session import Session
from pbm.store import TurnRow
from pbm.store.checksums import share_of_row
from pbm.store.health import Health
from pbm.store.keeping import Keeping

from conftest import Club, Shell, lasting_folder, not_as_written
from examples import examples

STEPS = """
symple challenge -size=5 --totaltime=30 alice bob
spiro challenge -small -pieces=2 alice bob
symple move 101 alice alice-secret a1
symple move 101 bob bob-secret c3
symple queue 101 bob bob-secret e5
symple move 101 alice alice-secret undo
symple move 101 bob bob-secret accept
symple move 101 bob bob-secret c3
symple submit 101 alice alice-secret a5
symple confirm 101 alice alice-secret
symple move 101 alice alice-secret propose
symple move 101 bob bob-secret reject
spiro move 101
spiro move 101
spiro move 101
symple challenge --from=101#2 carol bob
symple challenge -size=5 alice bob
symple move 103 alice alice-secret a1
symple move 103 bob bob-secret b2
symple move 103 alice alice-secret propose
symple move 103 bob bob-secret accept
symple challenge -size=5 --nagtime=1 --forfeittime=2 carol bob
symple move 104 carol carol-secret a1
symple move 104 bob bob-secret b2
a day passes
a day passes
symple challenge -size=5 alice alice
symple challenge -size=5 bob carol
symple move 106 bob bob-secret resign
""".strip().splitlines()
"""What brings about boards that go on, that are over in several ways, and one that is gone."""
VALUES = (
    *(None, "", "noon", "alice", "dave", "[3]", "Resign", "c3", "-size=7", "rules", b"", b"\x00"),
    *("2026-11-20T12:00:00+00:00", "2026-11-23T12:00:00.000000+00:00", "2027-11-20T12:00:00.000000+00:00"),
    *(-1, 0, 1, 2, 3, 4, 50, 0.5, 1e9),
)
"""What somebody may write into a column, besides what stands there in other rows."""
WRITES_BOARDS = re.compile(r'(UPDATE|INTO) (boards|turns) |DELETE FROM turns |insert\("(boards|turns)"')


def take(club, step):
    """Do what one of the STEPS says; a move of Spiro is any one."""
    if step == "a day passes":
        club.pass_time(days=1)
        clean_up(Session(club.server))
    elif step == "spiro move 101":
        board = Board.load(club.store, "spiro", "101")
        club.move(board.turn, board.state.random(Random(1)), comment="Schöne Grüße!")
    else:
        club.say(step, comment="Hello!" * ("challenge" in step))


def be_busy(club):
    club.signed_up("alice", "bob", "carol")
    for step in STEPS:
        take(club, step)


@pytest.fixture
def busy(club):
    """A club in which all of that has happened."""
    club.become(be_busy)
    return club


def look(club, *, replay):
    """What the doctor finds out by looking at all boards of games that there are."""
    places = [place for place in Health(club.store).board_names() if games.exists(place[0])]
    return looked_at(club.store, club.time, places, replay=replay)


def test_after_each_step_the_checksum_of_every_board_is_right(club):
    club.signed_up("alice", "bob", "carol")
    for step in STEPS:
        before = club.store.data_version(), club.store.db.total_changes
        take(club, step)
        assert club.store.db.total_changes > before[1], step
        assert not_as_written(club.store) == [], step
    reasons = {row.reason for game in ("spiro", "symple") for row in Keeping(club.store).every_board(game)}
    assert reasons == {None, "agreed", "forfeited"}
    assert look(club, replay=True) == look(club, replay=False) == (6, 0, [])


def test_boards_and_turns_are_written_where_checksums_are(busy):
    folder = Path(pbm.__file__).parent
    found = {path.relative_to(folder) for path in folder.rglob("*.py") if WRITES_BOARDS.search(path.read_text())}
    assert found == {Path("store/boards.py"), Path("store/health.py"), Path("store/schema.py")}


def test_a_board_that_is_as_pbm_has_written_it_is_not_played_again(busy, monkeypatch):
    played = []
    really = doctor.replayed
    monkeypatch.setattr(doctor, "replayed", lambda row, turns: played.append(row.board) or really(row, turns))
    assert look(busy, replay=False) == (6, 0, [])
    assert played == []
    busy.store.db.execute("UPDATE boards SET nag_days = 3 WHERE game = 'symple' AND board = '103'")
    assert look(busy, replay=False) == (6, 0, [])
    assert played == ["103"]
    assert look(busy, replay=True) == (6, 0, [])
    assert len(played) == 7


def test_a_board_that_pbm_itself_has_written_against_the_rules_is_found_when_all_are_played_again(busy):
    row = busy.store.board("symple", "101")
    turn = TurnRow(row.turn, "z9", (), automatic=False, played=busy.time)
    busy.store.save_board(row._replace(moves=row.moves + 1), row.moves + 1, [turn])
    assert look(busy, replay=False).doubtful == []
    assert look(busy, replay=True).doubtful == [("symple", "101")]


@pytest.fixture(scope="module")
def wrecked():
    """A club whose database is changed again and again, and never for good."""
    club = Club(lasting_folder() / "pbm.db")
    club.become(be_busy)
    yield club
    club.store.close()


@examples(500)
@given(data=st.data())
def test_whatever_somebody_changes_is_found_as_if_all_boards_were_played_again(wrecked, data):
    db = wrecked.store.db
    table = data.draw(st.sampled_from(["boards", "turns"]))
    column = data.draw(st.sampled_from([name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]))
    key = "game, board, number" if table == "turns" else "game, board"
    rows = db.execute(f"SELECT {key}, {column} FROM {table}").fetchall()
    *place, before = data.draw(st.sampled_from(rows))
    value = data.draw(st.sampled_from([*VALUES, *(row[-1] for row in rows)]))
    assume(value != before)
    with pytest.raises(Undone), wrecked.store.transaction():
        try:
            db.execute("PRAGMA defer_foreign_keys = ON")
            places = ", ".join("?" * len(place))
            db.execute(f"UPDATE {table} SET {column} = ? WHERE ({key}) = ({places})", [value, *place])
        except IntegrityError:  # SQLite takes no such value there
            raise Undone from None
        assert not_as_written(wrecked.store)
        assert found(wrecked, replay=False) == found(wrecked, replay=True)
        raise Undone


class Undone(Exception):
    """All that was done is undone."""


def found(club, *, replay):
    """What the doctor finds out, or cannot bear."""
    try:
        return look(club, replay=replay)
    except (OverflowError, ValueError) as why:
        return repr(why)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE boards SET secret = zeroblob(32)",
        "UPDATE boards SET started = '2026-11-20T11:00:00.000000+00:00'",
        "UPDATE turns SET text = 'b1' WHERE number = 1",
        "UPDATE turns SET played = '2026-11-20T11:00:00.000000+00:00' WHERE number = 2",
        "DELETE FROM turns WHERE number = 2",
    ],
)
def test_what_pbm_writes_later_makes_no_checksum_right_again(busy, change):
    where = " AND" if "WHERE" in change else " WHERE"
    busy.store.db.execute(f"{change}{where} game = 'symple' AND board = '101'")
    for step in ("move 101 bob bob-secret undo", "move 101 alice alice-secret reject"):
        busy.say(f"symple {step}")
        assert not_as_written(busy.store) == [("symple", "101")]


def test_moves_that_were_played_while_a_clock_was_set_back_are_found(busy):
    busy.pass_time(hours=-3)
    busy.say("symple move 105 alice alice-secret e1")
    busy.pass_time(hours=3)
    assert look(busy, replay=False).doubtful == look(busy, replay=True).doubtful == [("symple", "105")]


def test_a_column_that_boards_get_later_leaves_their_checksums_as_they_are(busy):
    row = busy.store.board("symple", "101")._asdict()
    assert share_of_row(row | {"later": None}) == share_of_row(row)


# Boards that have no checksum, or a wrong one


@pytest.fixture
def old(tmp_path):
    """A shell on boards that an older version has stored, of which one is not as its turns make it, one not sound."""
    club = Club(tmp_path / "pbm.db")
    club.become(be_busy)
    club.store.db.execute("UPDATE boards SET checksum = NULL")
    club.store.db.execute("UPDATE boards SET winner = 'bob' WHERE board = '103'")
    club.store.db.execute("UPDATE turns SET text = 'z9' WHERE board = '104' AND number = 2")
    club.store.close()
    return Shell(tmp_path)


def unsound(shell):
    """The boards with which the doctor finds something wrong."""
    told = json.loads(shell.run("doctor", "--json").stdout)["findings"]
    return [one["where"] for one in told if re.fullmatch("(symple|spiro) [0-9]+", one["where"])]


def test_boards_of_an_older_version_are_played_again_until_they_have_been_checked(old):
    assert unsound(old) == ["symple 103", "symple 104"]
    done = old.run("boards", "check")
    assert done.stdout == "Played again and sound: 4 boards; not sound: 2, of which `pbm doctor` says more.\n"
    assert done.returncode == 1
    with Club(old.folder / "pbm.db").store as store:
        assert not_as_written(store) == [("symple", "103"), ("symple", "104")]
    assert unsound(old) == ["symple 103", "symple 104"]


def test_a_board_that_is_mended_gets_its_checksum_and_one_that_cannot_be_gets_none(old):
    assert old.run("boards", "mend", "symple", "103").returncode == 0
    assert old.run("boards", "mend", "symple", "104").returncode == 1
    assert unsound(old) == ["symple 104"]
    assert json.loads(old.run("boards", "check", "--json").stdout) == {"sound": 4, "unsound": 1}
    with Club(old.folder / "pbm.db").store as store:
        assert not_as_written(store) == [("symple", "104")]


def test_a_board_that_is_mended_but_not_sound_yet_gets_none(old):
    with Club(old.folder / "pbm.db").store as store:
        store.db.execute("UPDATE boards SET changed = '2099-12-20T12:00:00.000000+00:00' WHERE board = '103'")
    assert old.run("boards", "mend", "symple", "103").returncode == 0
    assert sorted(unsound(old)) == ["symple 103", "symple 104"]
    with Club(old.folder / "pbm.db").store as store:
        assert store.board("symple", "103").checksum is None


def test_a_move_on_a_board_without_a_checksum_gives_it_none(old):
    assert old.run("symple", "move", "102", "carol", "carol-secret", "e1").returncode == 0
    with Club(old.folder / "pbm.db").store as store:
        assert store.board("symple", "102").checksum is None


def test_a_board_on_which_a_move_is_played_while_it_is_checked_is_left_for_the_next_time(old, monkeypatch):
    with Club(old.folder / "pbm.db").store as other:

        def meanwhile(store, now, places, *, replay):
            if places == [("symple", "102")]:
                other.save_board(other.board("symple", "102")._replace(comment="Meanwhile", commenter="carol"))
            return looked_at(store, now, places, replay=replay)

        monkeypatch.setattr(doctor, "looked_at", meanwhile)
        assert json.loads(old.run("boards", "check", "--json").stdout) == {"sound": 3, "unsound": 2}
        assert ("symple", "102") in not_as_written(other)
