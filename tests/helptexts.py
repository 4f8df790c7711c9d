"""The examples in the help texts, put to the referee: what a player reads there is what the program does.

In a help text a line that is indented by four and begins with ``>`` is a request to the referee. Below ``board``
stands the board, indented as far as its width allows. Below a request that is refused stands the refusal: it begins
with ``?``, and goes on in lines that are indented by six. Nothing stands below other requests.
"""

from pathlib import Path

from pbm import referee

FOLDER = Path(__file__).parents[1] / "help"
REQUEST = "    > "
REFUSAL = "    ? "
FURTHER = "      "


def read(game):
    """The help text of a game."""
    return (FOLDER / f"{game}.txt").read_text()


def examples(text):
    """Each request of a help text, with all lines that follow it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith(REQUEST):
            yield line.removeprefix(REQUEST), lines[number + 1 :]


def refusal(below):
    """The refusal that stands there, or nothing."""
    if not below[0].startswith(REFUSAL):
        return ""
    parts = [below[0].removeprefix(REFUSAL)]
    for line in below[1:]:
        if not line.startswith(FURTHER):
            break
        parts.append(line.strip())
    return " ".join(parts)


def board(below, drawn):
    """As many lines as were drawn, without the indentation that the first one of them has in the help."""
    indentation = below[0][: len(below[0]) - len(drawn[0])]
    assert indentation.isspace()
    return [line.removeprefix(indentation) for line in below[: len(drawn)]]


def check_example(request, below, reply):
    """Assert that what stands below a request in the help is the reply."""
    answer, *drawn = reply.splitlines()
    if refusal(below):
        assert answer == f"? {refusal(below)}", request
    else:
        assert answer.startswith("= "), f"{request}: {answer}"
    if drawn:
        assert board(below, drawn) == drawn
    elif not refusal(below):
        assert not below[0].startswith(FURTHER), f"{request}: {below[0]}"


def check(game):
    """Assert that the referee answers as the help of a game shows. Returns how many requests the help has."""
    requests = list(examples(read(game)))
    replies = referee.replies(game, [request for request, _ in requests])
    for (request, below), reply in zip(requests, replies, strict=True):
        check_example(request, below or [""], reply)
    return len(requests)


def check_form(game):
    """Assert that the help of a game fits a mail, and its quotation."""
    text = read(game)
    assert text.isascii()
    assert [line for line in text.splitlines() if len(line) > 78 or line != line.rstrip()] == []
