"""Pictures of boards: SVG of a game's figure, and PNG of that."""
