"""Memories as the engine reads and changes them: files, and statements with their places."""
