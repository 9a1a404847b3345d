"""A seventh capability, to prove that adding one changes nothing but the registry."""
