"""Rules over descriptions of nodes by themselves, whatever pools there are."""
