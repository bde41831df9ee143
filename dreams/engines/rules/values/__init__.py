"""One value in place of another: whether two statements speak of the same thing and differ in nothing else. Pure."""
