"""The error for a request of a person that cannot be fulfilled. PURE."""


class Refusal(Exception):
    """It cannot be done, or not now. The message tells a person why and what to do; commands then exit with 1."""


class Ambiguous(Refusal):
    """It could mean more than one thing; the message lists them. Commands exit with 2."""
