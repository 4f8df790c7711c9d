"""Whom the server believes, and what he may cause."""
