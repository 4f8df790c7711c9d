"""A site of plain files for any web server: what any stranger may see of the boards."""
