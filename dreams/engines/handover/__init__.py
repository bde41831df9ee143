"""Hand-over notes of a session: `sections` their fixed shape, `rules` what a transcript shows, `model` the rest. PURE."""
