"""What people typed: taken apart, and understood as wishes, as news, or as neither. Pure; nothing here knows the memories."""
