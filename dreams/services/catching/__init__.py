"""Catching what a person said, the same day: a session that went quiet is read from where the last reading stopped, and
what was plainly asked for becomes a card.

`unread_parts` has the cursors, and what of a prompt was not typed · `statements` what was said · `lifecycle` whether a project is read
at all, and one reading · `cards` the cards and the proposal that is drafted from them · `card_states` what becomes of cards when
that proposal closes.
"""
