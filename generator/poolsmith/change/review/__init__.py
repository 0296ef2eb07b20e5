"""What a change adds that nobody who may accept it has accepted: one file for each question."""
