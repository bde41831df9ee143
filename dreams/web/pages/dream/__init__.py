"""Dreams as their pages show them: the list of all (`listing`), and one as it happens (`page`)."""
