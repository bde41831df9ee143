"""Whether the sources deny what a claim says, or say the opposite of it. Pure."""
