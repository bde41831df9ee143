"""Where each line of a memory came from.

`lines` (which state a line came with, and what an agent's own write added) is pure; `causes` reads a memory's states from
its rows, and says of each line which dream, session or hand brought it.
"""
