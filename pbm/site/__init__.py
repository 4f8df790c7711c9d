"""A site of plain files: what any stranger may see of the boards, for a web server to hand out."""
