"""The commands of the operator, for the shell alone: a module for each subject."""
