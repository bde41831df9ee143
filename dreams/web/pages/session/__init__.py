"""A transcript as a page shows it: its turns, and where to go inside it."""
