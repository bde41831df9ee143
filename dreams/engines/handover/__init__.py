"""Hand-over notes on a session: `sections` has their format, `rules` reads the transcript, `model` adds the rest. PURE."""
