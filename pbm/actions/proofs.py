"""The proof of the dice: a board's throws compared with its secret, and the counts of all throws of a game."""

from collections.abc import Sequence

import games
from pbm import letters, texts
from pbm.actions.finding import find_board
from pbm.blocks import Paragraph, Preformatted, Table
from pbm.board import dice
from pbm.board.board import Board
from pbm.letters import Letter
from pbm.refusals import Refused, check_game
from pbm.session import Session

FACES = "Die", "Fell", "Expected"
TESTS = "Of", "Count", "Chi-square", "Degrees of freedom"
CHANCE = """\
Honest dice exceed a chi-square of 15.1 at 5 degrees of freedom, and of 57.3
at 35, once in a hundred times; it does not stay there while more dice are
thrown. Where less than 5 of a kind are expected, it says little."""


def check_dice(session: Session, game: str, number: str) -> list[Letter]:
    """Compare every throw of a board that is over with the secret that the players were promised. Raises Refused.

    Without a number, count the dice of all boards.
    """
    game = game.lower()
    check_game(game)
    if not number:
        return count_dice(session, game)
    board = find_board(session, game, number)
    if not board.has_dice:
        raise Refused(f"{game.capitalize()} is played without dice.")
    if not board.is_over:
        raise Refused("The game is not over; until then nobody is told the secret of its dice.")
    secret = board.row.secret
    if not secret:
        raise Refused(
            "These dice cannot be checked here: the game was played in an arena, or elsewhere under another number."
        )
    throws = {}  # those of turns that another board has given are not of this secret
    wrong = []
    rows = [("Move", "Dice")]
    given = board.row.given
    for move, turn in enumerate(board.turns[given:], given + 1):
        throws[move] = turn.dice
        if turn.dice != dice.throw(board.row.secret_of(move - 1), board.name, move - 1, len(turn.dice)):
            wrong.append(str(move))
        rows.append((str(move), " ".join(str(die) for die in turn.dice)))
    if wrong:
        raise Refused(f"The dice of these moves do not follow from the secret: {', '.join(wrong)}.")
    proof = _proof(secret)
    if board.row.earlier_secret:  # the game was reinstated, and its players knew that secret by then
        earlier = _proof(board.row.earlier_secret)
        proof = f"Through move {board.row.earlier_throws}\n{earlier}\n\nFrom then on\n{proof}"
    letter = letters.plain_letter(
        [Table(rows), Paragraph(_verdict(board, len(throws))), Preformatted(proof)],
        subject=f"{game.capitalize()} Board {number} Dice",
        answer=f"{game} show {number}",
        secret=secret.hex(),
        sha256=dice.commitment(secret),
        dice=list(throws.values()),
    )
    return [letter]


def _proof(secret: bytes) -> str:
    """A secret, and the SHA-256 that the players were told."""
    return f"Secret:  {secret.hex()}\nSHA-256: {dice.commitment(secret)}"


def _verdict(board: Board, throws: int) -> str:
    """The sentences that a number of throws follow from the secret of a board."""
    follow = f"All {throws} throws follow"
    if throws == 1:
        follow = "The throw follows"
    verdict = f"{follow} from the secret. Compare its SHA-256 with your first mail's."
    if board.row.earlier_secret:
        mails = "your first mail's, and with that of the mail which said that the game goes on"
        verdict = f"{follow} from two secrets. Compare their SHA-256 with {mails}."
    given = board.row.given
    if given == 0:
        return verdict
    moves = f"first {given} moves"
    if given == 1:
        moves = "first move"
    return f"{verdict}\nThe dice of the {moves} are those of board {board.row.source}."


def count_dice(session: Session, game: str) -> list[Letter]:
    """Count all dice that were thrown in a game, and test how far the counts are from equal. Raises Refused."""
    title = game.capitalize()
    rules = games.load(game)
    if not games.needs_dice(rules.new(**games.read_options(rules, []))):
        raise Refused(f"{title} is played without dice.")
    if not session.is_trusted:
        raise Refused(f"All dice are counted in a shell only; `dice {game} BOARD` checks a board that is over.")
    total = 0
    faces = [0] * 6
    pairs = [0] * 36
    for thrown, times in session.store.boards.throws(game):
        total += times
        for die in thrown:
            faces[die - 1] += times
        if len(thrown) == 2:
            first, second = thrown
            pairs[6 * (first - 1) + second - 1] += times
    tests = [_test("single dice", faces), _test("pairs, in order", pairs)]
    expected = f"{sum(faces) / 6:.1f}"
    face_rows = [FACES]
    for face, count in enumerate(faces, 1):
        face_rows.append((str(face), str(count), expected))
    test_rows: list[Sequence[str]] = [TESTS]
    for test in tests:
        test_rows.append([str(value) for value in test.values()])
    letter = letters.plain_letter(
        [
            Paragraph(f"{texts.counted(total, 'throw')} of {title} have been played here."),
            Table(face_rows, FACES),
            Table(test_rows, TESTS[1:]),
            Paragraph(CHANCE),
        ],
        subject=f"{title} Dice",
        answer=f"dice {game} BOARD",
        game=game,
        throws=total,
        faces=faces,
        pairs=[pairs[begin : begin + 6] for begin in range(0, 36, 6)],  # a row for each face of the first die
        tests=tests,
    )
    return [letter]


def _test(kind: str, counts: Sequence[int]) -> dict[str, object]:
    """How far the counts of a kind of throws are from equal, as data; its values are a row of the table."""
    return {
        "what": kind,
        "count": sum(counts),
        "chi_square": round(dice.chi_square(counts), 4),
        "degrees_of_freedom": len(counts) - 1,
    }
