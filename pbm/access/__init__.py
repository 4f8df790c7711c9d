"""Who the server believes, and how much each may cause."""
