"""Catches what a person asked to remember, the same day: a quiet session is read from where the last reading stopped, and
each clear request becomes a card.

`unread_parts`: cursors, and prompts without pasted text · `statements`: what was asked for · `lifecycle`: whether a project
is read, and one reading · `cards`: the cards and the proposal drafted from them · `card_states`: updates of cards when that
proposal closes.
"""
