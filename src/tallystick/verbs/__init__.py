"""The verbs, one room each; strangers to one another. `tallystick.registry` lists them."""
