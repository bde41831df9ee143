"""The memories as the engine handles them: files, statements and their places, and how one is changed without harm."""
