"""A game from another package: one module, one help file, one entry point."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv

import pytest

from helpers.plugins import FILES, MODULE, PAGE, ROOT, find_package


@pytest.fixture
def elsewhere(shell):
    """A shell that finds the package."""
    find_package(shell)
    return shell


def test_a_game_from_another_package_is_listed_explained_and_played_and_has_a_referee(elsewhere):
    elsewhere.sign_up("alice", "bob")
    assert re.search(r"^take +0$", elsewhere.process("list").stdout, re.MULTILINE)
    assert "Bad-Name" not in elsewhere.process("help").stdout  # it could not be called
    assert elsewhere.process("take", "help").stdout == "Take one stick or two.\n"
    told = elsewhere.process("take", "challenge", "-sticks=3", "alice", "bob").stdout
    assert "\n\n|||\n" in told
    assert told.endswith("\n\npbm take move 101 alice PASSWORD MOVE#1\n")
    refused = elsewhere.process("take", "move", "101", "alice", "alice-secret", "3")
    assert refused.returncode == 1
    assert "Take 1 or 2 of the 3 sticks, not '3'." in refused.stderr
    elsewhere.process("take", "move", "101", "alice", "alice-secret", "2")
    assert "Won by bob." in elsewhere.process("take", "move", "101", "bob", "bob-secret", "1").stdout
    done = elsewhere.process("referee", "take", stdin="new -sticks=2\nmoves\nplay 2\nstate\n")
    assert done.stdout.splitlines()[:3] == ["= ok", "= 2 1 2", "= 2"]
    assert '"winner": "first"' in done.stdout


def test_looking_a_game_up_imports_only_that_game(elsewhere):
    code = "import sys, games; games.load('take'); print([m for m in sys.modules if m.startswith('games.')])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=elsewhere.environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


[FIGURE] = re.findall(r"^## Draw a picture\n.*?^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def written(folder, rename=lambda text: text):
    """A folder with the files that stand in the page, with other names of game and module if they are to be."""
    for name, text in FILES.items():
        path = folder / rename(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rename(text + FIGURE * name.endswith(".py")))
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A fresh environment where pbm is installed, and then, as the page says, Hex and the same under another name."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "venv")
    [site] = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "pbm.pth").write_text("\n".join([str(ROOT), sysconfig.get_path("purelib"), ""]))  # pbm, and what it needs
    sources = written(folder / "hex"), written(folder / "hax", lambda text: re.sub("hex(?!agon)", "hax", text))
    pip = [sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "install", "-q", "--no-compile", *sources], check=True, env=bare_environment(), capture_output=True
    )
    return folder


def bare_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PBM_", "VIRTUAL_ENV", "PYTHON"))}
    return kept | more


def pbm(installed, *words, stdin=""):
    """What pbm does in the fresh environment."""
    command = [installed / "venv" / "bin" / "python", "-m", "pbm", *words]
    environment = bare_environment(PBM_DB=str(installed / "pbm.db"), PBM_ADDRESS="pbm@pbm.example")
    return subprocess.run(
        command, input=stdin, env=environment, cwd=installed, capture_output=True, text=True, check=False
    )


def test_the_readme_leads_to_the_page_which_prints_every_file_and_the_module_is_short():
    assert set(FILES) == {"pyproject.toml", "hex_game/__init__.py", "hex_game/hex.txt"}
    module = FILES["hex_game/__init__.py"]
    assert len(module.splitlines()) <= 90
    assert max(map(len, module.splitlines())) <= 120
    others = set(re.findall(r"^(?:from|import) (\w+)", module, re.MULTILINE)) - sys.stdlib_module_names
    assert others == {"games"}
    text = (ROOT / "README.md").read_text()
    for part in ("games/", "help/", "tests/", "pbm.games", "Game", "State", "docs/adding-a-game.md"):
        assert part in text


@pytest.mark.long
@pytest.mark.parametrize("name", ["hex", "hax"])
def test_what_the_page_prints_is_installed_by_pip_and_keeps_its_promises(installed, name):
    kept = pbm(installed, "promises", name)
    assert (kept.returncode, kept.stdout) == (0, f"{name} keeps all its promises.\n")
    assert f"    {name} challenge [-options] userid1 userid2\n" in pbm(installed, name, "help").stdout
    assert re.search(rf"^{name} +\d+$", pbm(installed, "list").stdout, re.MULTILINE)


@pytest.mark.long
def test_a_game_of_hex_is_played_to_its_end_and_the_doctor_finds_all_well(installed):
    for name in ("alice", "bob"):
        pbm(installed, "signup", name, f"{name}-secret")
    assert "alice (red) against bob (blue)" in pbm(installed, "hex", "challenge", "-size=3", "alice", "bob").stdout
    for number, cell in enumerate(["b1", "a1", "b2", "a2"]):
        name = ("alice", "bob")[number % 2]
        assert pbm(installed, "hex", "move", "101", name, f"{name}-secret", cell).returncode == 0
    end = pbm(installed, "hex", "move", "101", "alice", "alice-secret", "B3").stdout
    assert "Won by alice." in end
    assert "\n   3 .(R .\n  2 B R .\n 1 B R .\n" in end
    pbm(installed, "picture", "hex", "101", "hex.svg")
    drawn = (installed / "hex.svg").read_text()
    assert re.findall(r'class="piece (\w+)" data-cell="(\w+)"', drawn) == [
        ("navy", "a1"),
        ("yellow", "b1"),
        ("navy", "a2"),
        ("yellow", "b2"),
        ("yellow", "b3"),
    ]
    assert re.findall(r'class="latest yellow" data-cell="(\w+)"', drawn) == ["b3"]
    assert len(re.findall("<path[^>]* data-cell", drawn)) == 9
    over = pbm(installed, "hex", "move", "101", "bob", "bob-secret", "c3")
    assert "The game has ended" in over.stderr
    found = pbm(installed, "doctor")
    assert (found.returncode, found.stdout) == (0, f"All is well with {installed / 'pbm.db'}.\n")


@pytest.fixture(scope="module")
def pair(installed):
    """Two players with addresses."""
    for name in ("ann", "ben"):
        pbm(installed, "signup", name, f"{name}-secret")
        pbm(installed, "addresses", "add", name, f"{name}@players.example")
    return installed


def begun(pair):
    """A board of Hex on which ann has put the first stone."""
    number = json.loads(pbm(pair, "hex", "challenge", "-size=3", "ann", "ben", "--json").stdout)["board"]
    assert pbm(pair, "hex", "move", number, "ann", "ann-secret", "b2").returncode == 0
    return number


def swap_by_mail(pair, number):
    """Answer the last mail about the board to ben."""
    pbm(pair, "outbox", "flush")
    mails = [file.read_text() for file in (pair / "mail" / "ben@players.example" / "new").iterdir()]
    [mail] = [mail for mail in mails if f"\nSubject: Hex Board {number} ben\n" in mail]
    address = re.search(r"^Reply-To: (.+)$", mail, re.MULTILINE)[1]
    head = f"From: ben@players.example\nTo: {address}\nSubject: Re: Hex\nMessage-ID: <1@players.example>\n"
    return pbm(pair, "deliver", stdin=f"{head}\nSwap\n")


SIGNED = "ben", "ben-secret"
WAYS_TO_SWAP = {
    "command": lambda pair, number: pbm(pair, "hex", "swap", number, *SIGNED),
    "move": lambda pair, number: pbm(pair, "hex", "move", number, *SIGNED, "SWAP#2"),
    "queue": lambda pair, number: pbm(pair, "hex", "queue", number, *SIGNED, "swap"),
    "mail": swap_by_mail,
}


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS_TO_SWAP)
def test_sides_of_hex_are_swapped_once_and_then_who_began_is_to_move_as_blue(pair, way):
    number = begun(pair)
    assert WAYS_TO_SWAP[way](pair, number).returncode == 0
    told = pbm(pair, "hex", "show", number).stdout
    assert f"Hex board {number}, ann (blue) against ben (red)\n" in told
    assert "ben has swapped sides.\n\nann's turn (blue).\n" in told
    assert "\nMove  ann (blue)  ben (red)\n1.    b2          swap\n" in told
    shown = json.loads(pbm(pair, "hex", "show", number, "--json").stdout)
    assert (shown["players"], shown["turn"]) == ({"red": "ben", "blue": "ann"}, "ann")
    assert shown["position"]["history"] == ["b2", "swap"]
    again = pbm(pair, "hex", "swap", number, "ann", "ann-secret")
    assert again.returncode == 1
    assert again.stderr.startswith("Sides are swapped only instead of the second stone.\n")
    pbm(pair, "hex", "move", number, "ann", "ann-secret", "a1")
    assert "has swapped" not in pbm(pair, "hex", "show", number).stdout


@pytest.mark.long
def test_a_move_to_swap_sides_of_hex_is_queued_and_refused_before_the_first_stone(pair):
    number = json.loads(pbm(pair, "hex", "challenge", "-size=3", "ann", "ben", "--json").stdout)["board"]
    refused = pbm(pair, "hex", "swap", number, "ann", "ann-secret")
    assert refused.stderr.startswith("Sides are swapped only instead of the second stone.\n")
    pbm(pair, "hex", "queue", number, *SIGNED, "swap")
    told = pbm(pair, "hex", "move", number, "ann", "ann-secret", "b2").stdout
    assert "ben has swapped sides.\n\nann's turn (blue).\n" in told


@pytest.mark.long
def test_who_has_swapped_sides_of_hex_wins_and_is_rated_as_the_other_one(pair):
    number = begun(pair)
    pbm(pair, "hex", "swap", number, *SIGNED)
    for name, cell in (("ann", "a1"), ("ben", "b1"), ("ann", "a2")):
        assert pbm(pair, "hex", "move", number, name, f"{name}-secret", cell).returncode == 0
    end = pbm(pair, "hex", "move", number, *SIGNED, "b3").stdout  # to the stone that ann has put
    assert "\nWon by ben.\n" in end
    assert re.findall(r"^(ann|ben)  1600 -> \d+  (up|down)", end, re.MULTILINE) == [("ann", "down"), ("ben", "up")]
    number = begun(pair)
    pbm(pair, "hex", "swap", number, *SIGNED)
    resigned = pbm(pair, "hex", "resign", number, "ann", "ann-secret").stdout
    assert "\nWon by ben (ann resigned).\n" in resigned
    assert pbm(pair, "doctor").returncode == 0


@pytest.mark.long
def test_robots_swap_sides_of_hex_and_play_on_with_the_other_ones(installed):
    """Of a board of three by three, whoever has the middle wins: a robot takes it over, and then wins with it."""
    begun = json.loads(pbm(installed, "hex", "challenge", "-size=3", "robot5", "robot4", "--json").stdout)
    middle = "new -size=3\nplay b2\nstate\nplay swap\nstate\n"
    *_, before, _, after = pbm(installed, "referee", "hex", stdin=middle).stdout.splitlines()
    asked = f"{before.removeprefix('= ')}\n{after.removeprefix('= ')}\nquit\n"
    swapped, answer = pbm(installed, "robot", "--playouts=500", "--seed=1", stdin=asked).stdout.split()
    assert swapped == "swap"
    assert re.fullmatch("[abc][123]", answer)
    assert pbm(installed, "robots", "run", "--once").returncode == 0
    played = json.loads(pbm(installed, "hex", "show", begun["board"], "--json").stdout)
    assert played["over"]


@pytest.mark.long
def test_hex_is_won_by_who_joins_his_edges_and_by_nobody_else(installed):
    red = "new -size=3\nplay a1\nplay c1\nplay a2\nplay c2\nplay a3\nstate\n"
    blue = "new -size=3\nplay b3\nplay a1\nplay c3\nplay b1\nplay a3\nplay c1\nstate\n"  # Red has all of the top
    for requests, winner in ((red, "red"), (blue, "blue")):
        assert f'"winner": "{winner}"' in pbm(installed, "referee", "hex", stdin=requests).stdout.splitlines()[-1]


def run_our_tests(installed, *words):
    """What pytest tells of our tests in the fresh environment."""
    tests = [
        installed / "venv" / "bin" / "python",
        *"-m pytest -o addopts= -q -n 0 -p no:cacheprovider".split(),
        *words,
    ]
    done = subprocess.run(tests, cwd=ROOT, env=bare_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    return done


@pytest.mark.long
def test_what_we_test_of_all_games_holds_where_another_one_is_installed_which_our_tests_leave_out(installed):
    run_our_tests(
        installed, "tests/test_completion.py", "tests/test_newcomers.py", "-k", "offered or games or guessed or split"
    )
    done = run_our_tests(installed, "--collect-only", "tests")
    others = [line for line in done.stdout.splitlines() if "test_plugin.py" not in line]
    assert any("::test_every_game_keeps_its_promises" in line and line.endswith("[spiro]") for line in others)
    assert [line for line in others if line.partition("[")[2].split("]")[0] in {"hex", "hax"}] == []


def test_the_doctor_and_promises_say_what_the_game_of_a_package_breaks(elsewhere, tmp_path):
    module = tmp_path / "site" / "take_game.py"
    module.write_text(MODULE.replace('return "|" * state.sticks', 'return "|" * 80'))
    elsewhere.process("signup", "alice", "alice-secret")
    done = elsewhere.process("doctor")
    assert done.returncode == 1
    assert "take: the package take has a fault: draw makes lines of 80 columns, and 78 fit into a mail." in done.stdout
    kept = elsewhere.process("promises", "take")
    assert kept.returncode == 1
    assert "draw makes lines of 80 columns, and 78 fit into a mail.\n" in kept.stdout
    module.write_text(MODULE.replace("from typing", "from tiping"))
    kept = elsewhere.process("promises", "take")
    assert kept.returncode == 1
    assert kept.stdout == "The package take has a fault (ModuleNotFoundError: No module named 'tiping').\n"


@pytest.mark.parametrize("fault", [pytest.param("from tipping", marks=pytest.mark.long), "from from typing"])
def test_a_package_with_a_fault_is_named_in_every_answer_and_its_boards_are_kept(elsewhere, tmp_path, fault):
    elsewhere.sign_up("alice", "bob")
    elsewhere.process("take", "challenge", "alice", "bob")
    (tmp_path / "site" / "take_game.py").write_text(MODULE.replace("from typing", fault))
    lines = "challenge alice bob", "move 101 alice alice-secret 1", "show 101", "help"
    for line in (*(f"take {one}" for one in lines), "referee take", f"site {tmp_path}/web"):
        refused = elsewhere.process(*line.split())
        assert refused.returncode == 1
        assert "The package take has a fault (" in " ".join(refused.stderr.split())
        assert "boards remove" not in refused.stderr
    told = elsewhere.process("doctor").stdout
    assert "take 101: it cannot be set up: The package take has a fault (" in told
    assert "restore" not in told
    assert (tmp_path / "web" / "symple" / "index.html").exists()
