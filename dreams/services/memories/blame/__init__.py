"""Where each line of a memory came from.

`lines` (which state a line came with) and `writes` (what an agent's own write added) are pure; `chain` reads a
memory's states from its rows, and `causes` says of each line which dream, session or hand brought it.
"""
