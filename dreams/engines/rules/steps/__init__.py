"""What a dream does, one module a step, in the order in which `engine` takes them."""
