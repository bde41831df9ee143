"""The ways in which a text steers an agent against its person, family by family. PURE; `injection` is the check that asks."""
