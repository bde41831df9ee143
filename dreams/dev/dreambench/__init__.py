"""dreambench: measures an engine on generated directories with known truth.

`generator` makes a world in our own wordings (with `session_cases`), `given_words` one in those of a folder; `shapes` has
both · `builder` builds one directory with its truth · `whole_run` runs the engine through the real product, with
a reviewer who knows the truth · `folders` writes and reads directories · `scoring` judges each case.
"""
