"""dreambench: an engine measured on generated directories with known truth.

`generator` makes a world in our own words (`wordings`, `memory_cases`, `session_cases`), `strangers` one in the words of a
folder (`shapes`) · `truth` what is so in it · `course` the engine's true way through the product · `reviewer` answers what it
asks · `folders` to disk and back, for any other system · `judging`, `scoring` what became of each case · `baselines`.
"""
