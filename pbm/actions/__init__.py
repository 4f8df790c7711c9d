"""What commands do: a file for each deed. Each command is one transaction."""
