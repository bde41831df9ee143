"""What a person asked for and cannot have, in words. PURE."""


class Refusal(Exception):
    """It cannot be done, or not now. The message tells a person why and what to do; a command that meets it ends with 1."""
