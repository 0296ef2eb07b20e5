"""What goes on while somebody edits: a project that stays loaded, and the language server that answers an editor."""
