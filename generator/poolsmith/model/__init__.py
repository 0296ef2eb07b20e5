"""Model: frozen data that every floor above passes along."""
