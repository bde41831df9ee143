"""SVG charts drawn on the server: plain data in, markup out. No database, no script, no style attribute.

Every chart has a title and a description for screen readers, and a table with its numbers.
Colours are classes; their values are with the design tokens.
"""
