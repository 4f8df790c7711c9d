"""Whom the server believes, and what they may cause."""
