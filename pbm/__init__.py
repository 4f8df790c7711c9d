"""pbm: a server on which people play abstract board games by shell and by e-mail."""

import sys

START_PBM = (sys.executable, "-P", "-m", "pbm")
"""Starts pbm as a new process, no matter which files are in the current folder."""
