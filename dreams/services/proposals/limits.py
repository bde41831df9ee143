"""How much of a quote is kept."""

QUOTE_LIMIT = 4000
