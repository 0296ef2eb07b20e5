"""Rules over privilege grants and the ledger lines that they allow. Nothing here reads files."""
