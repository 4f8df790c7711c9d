"""Tournaments as pairing rules and tables: names and results in, names out; no storage, no mail."""
