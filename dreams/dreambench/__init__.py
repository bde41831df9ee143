"""dreambench: an engine measured on generated directories with known truth.

`generator` makes a world by seed · `truth` what is so in it · `course` the engine's true way through the product ·
`plain` folders for any other system · `judging`, `scoring` what became of each case · `baselines` · `table`.
"""
