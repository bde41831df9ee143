"""Search in memories, their earlier versions, session titles and what people typed.

`query.parse` makes terms of what was typed and says what counts as the same; `finding` answers with rows, and shows why;
`index` keeps the texts, one row each, and `sqlite` or `postgresql` narrows them down.
"""
