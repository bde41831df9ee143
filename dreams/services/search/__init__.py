"""Search over memories, their earlier versions, the titles of sessions and what people typed.

`query.parse` makes terms of what was typed, `finding` answers with rows, `marking` shows why; `index` keeps the texts,
one row each, and `sqlite` or `postgresql` narrows them down. `folding` says what counts as the same.
"""
