"""What commands do: one deed, one file, each in one transaction."""
