"""Whether a name or a number of a claim is said of what the claim says it of. Pure."""
