"""Pictures drawn by the server as SVG: plain data in, markup out. No database, no script, no style attribute.

Every picture is an image with a title and a description for those who hear it, and comes with its numbers as a table.
Colours are classes; their values stand with all others in the tokens.
"""
