"""Pure mathematics on arrays; nothing here reads files or knows a capability."""
