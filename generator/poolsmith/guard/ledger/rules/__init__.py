"""Rules over ledgers and grants, one file each."""
