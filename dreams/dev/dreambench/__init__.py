"""dreambench: measures an engine on generated directories with known truth.

`world` makes a world in the wordings of a folder; `shapes` reads them, `own_cases` has what only our own world has ·
`builder` builds one directory with its truth, `passages` finds that in a directory · `whole_run` runs the engine through the real product, with
a reviewer who knows the truth · `folders` writes and reads directories · `scoring` judges each case.
"""
