"""A letter reaches people by channels; another one is a module of its own, and nothing else."""

import sys

import pytest

from pbm import delivery
from pbm.refusals import Refused

SHORT_MESSAGES = '''
"""Short messages: whose turn it is, for users with a telephone."""

import os
from pathlib import Path

from pbm.blocks import Drawing, Paragraph

TELEPHONES = {"bob": "15550100"}


def deliver(session, letter):
    """Put a short message beside the others for its number: the subject, and what stands above the board."""
    number = TELEPHONES.get(letter.to)
    if number and any(isinstance(block, Drawing) for block in letter.blocks):
        *above, status = [block.text for block in letter.blocks if isinstance(block, Paragraph)][:2]
        with (Path(os.environ["SHORT_MESSAGES"]) / number).open("a") as file:
            file.write(f"{letter.subject}: {status} Answer: {letter.command.text}\\n")
'''


@pytest.fixture
def telephone(tmp_path, monkeypatch):
    """The messages that bob has got on his telephone, with a third channel that is one module."""
    folder = tmp_path / "channels"
    folder.mkdir()
    (folder / "short_messages.py").write_text(SHORT_MESSAGES)
    monkeypatch.setenv("SHORT_MESSAGES", str(tmp_path))
    monkeypatch.setattr(delivery, "__path__", [*delivery.__path__, str(folder)])
    yield tmp_path / "15550100"
    sys.modules.pop("pbm.delivery.short_messages", None)


def test_a_third_channel_is_one_module(pair, telephone):
    before = len(pair.mails("bob"))
    [printed] = pair.move("alice", "e3:5")
    assert printed.to == "alice"
    assert telephone.read_text() == (
        "Spiro Board 101 bob: bob's turn (O, dice 4 and 2). Answer: spiro move 101 bob PASSWORD MOVE#2\n"
    )
    assert [mail.subject for mail in pair.mails("bob")[before:]] == ["Spiro Board 101 bob"]  # it comes by mail, too


def test_what_is_refused_or_printed_or_for_others_goes_by_no_other_channel(pair, telephone):
    with pytest.raises(Refused):
        pair.move("alice", "e3:4")
    pair.say("spiro show 101")
    pair.say("symple challenge alice carol")
    assert not telephone.exists()
    pair.say("message alice alice-secret carol bob", comment="Hello")  # a letter without a board
    assert not telephone.exists()
