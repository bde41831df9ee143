"""Reads what people typed: wishes, changes, or neither. Pure; independent of memories."""
