"""Reads notes: the values in a sentence, the statements of a directory, and which of them belong together."""
