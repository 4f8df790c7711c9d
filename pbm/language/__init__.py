"""The command language: a line becomes a call, once."""
