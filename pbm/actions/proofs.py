"""The proof of the dice: the throws of a board beside its secret, and the counts of all throws of a game."""

import games
from pbm import letters, texts
from pbm.actions.finding import find_board
from pbm.blocks import Paragraph, Preformatted, Table
from pbm.board import dice
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
    given = board.row.given
    throws = {number: turn.dice for number, turn in enumerate(board.turns, 1) if number > given}
    row = board.row
    derived = {n: dice.throw(row.secret_of(n - 1), board.name, n - 1, len(thrown)) for n, thrown in throws.items()}
    if wrong := [str(n) for n in throws if throws[n] != derived[n]]:
        raise Refused(f"The dice of these moves do not follow from the secret: {', '.join(wrong)}.")
    lines = [("Move", "Dice"), *((str(n), " ".join(map(str, thrown))) for n, thrown in throws.items())]
    proof = _proof(secret)
    if row.earlier_secret:
        earlier = _proof(row.earlier_secret)
        proof = f"Through move {row.earlier_throws}\n{earlier}\n\nFrom then on\n{_proof(secret)}"
    follow = "The throw follows" if len(throws) == 1 else f"All {len(throws)} throws follow"
    verdict = f"{follow} from the secret. Compare its SHA-256 with your first mail's."
    if row.earlier_secret:
        mails = "your first mail's, and with that of the mail which said that the game goes on"
        verdict = f"{follow} from two secrets. Compare their SHA-256 with {mails}."
    if given:
        moves = "first move" if given == 1 else f"first {given} moves"
        verdict += f"\nThe dice of the {moves} are those of board {board.row.source}."
    told = Table(lines), Paragraph(verdict), Preformatted(proof)
    letter = letters.plain_letter(
        told,
        subject=f"{game.capitalize()} Board {number} Dice",
        answer=f"{game} show {number}",
        secret=secret.hex(),
        sha256=dice.commitment(secret),
        dice=[*throws.values()],
    )
    return [letter]


def _proof(secret: bytes) -> str:
    return f"Secret:  {secret.hex()}\nSHA-256: {dice.commitment(secret)}"


def count_dice(session: Session, game: str) -> list[Letter]:
    """Count all dice that were thrown in a game, and tell how far the counts are from equal. Raises Refused."""
    title = game.capitalize()
    rules = games.load(game)
    if not games.needs_dice(rules.new(**games.read_options(rules, []))):
        raise Refused(f"{title} is played without dice.")
    if not session.in_shell:
        raise Refused(f"All dice are counted in a shell only; `dice {game} BOARD` checks a board that is over.")
    throws = session.store.boards.throws(game)
    faces, pairs = [0] * 6, [0] * 36
    for thrown, times in throws:
        for die in thrown:
            faces[die - 1] += times
        if len(thrown) == 2:
            pairs[6 * thrown[0] + thrown[1] - 7] += times
    total = sum(times for _, times in throws)
    tests = [
        {
            "what": what,
            "count": sum(counts),
            "chi_square": round(dice.chi_square(counts), 4),
            "degrees_of_freedom": len(counts) - 1,
        }
        for what, counts in (("single dice", faces), ("pairs, in order", pairs))
    ]
    shares = [(str(face), str(count), f"{sum(faces) / 6:.1f}") for face, count in enumerate(faces, 1)]
    found = [tuple(map(str, test.values())) for test in tests]
    told = (
        Paragraph(f"{texts.counted(total, 'throw')} of {title} have been played here."),
        Table([FACES, *shares], FACES),
        Table([TESTS, *found], TESTS[1:]),
        Paragraph(CHANCE),
    )
    letter = letters.plain_letter(
        told,
        subject=f"{title} Dice",
        answer=f"dice {game} BOARD",
        game=game,
        throws=total,
        faces=faces,
        pairs=[pairs[at : at + 6] for at in range(0, 36, 6)],
        tests=tests,
    )
    return [letter]
