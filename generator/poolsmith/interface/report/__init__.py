"""Report: a run's outcome as text, JSON or GitHub annotations; one file per format."""
