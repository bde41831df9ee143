"""dreambench: an engine measured on generated directories with known truth.

`generator` makes a world in our own words (`wordings`, `session_cases`), `given_words` one in the words of a
folder (`shapes`) · `builder` one directory in the making, and what is true of it · `whole_run` the engine's true way through the product,
with a reviewer who knows the truth · `folders` to disk and back · `scoring` what became of each case.
"""
