"""Processes of their own: commands, servers, databases and receivers, as a person starts them."""
