"""pbm: a server on which people play abstract board games by shell and by e-mail."""
