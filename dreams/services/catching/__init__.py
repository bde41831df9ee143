"""Catching what a person said, the same day: a session that went quiet is read from where the last reading stopped, and
what was plainly asked for becomes a card.

`reading` has the cursors, and what of a prompt was not typed · `gates` whether a project is read at all ·
`statements` what was said · `story` one reading · `cards` the cards and the proposal that is drafted from them ·
`states` what becomes of cards when that proposal closes.
"""
