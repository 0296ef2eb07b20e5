"""Grants: reviewed permissions, and what the ledgers need of them."""
