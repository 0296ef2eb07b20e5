"""One cluster after the other: read, planned, predicted, judged."""
