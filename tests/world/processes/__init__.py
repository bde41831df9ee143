"""Separate processes: commands, servers, databases and receivers, as a person starts them."""
