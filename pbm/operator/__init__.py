"""The commands of the operator, which a shell alone understands: a module for each subject."""
