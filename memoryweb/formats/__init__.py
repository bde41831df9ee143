"""How moments are written where no page says it: in the admin."""
