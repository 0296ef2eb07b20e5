"""What Helm charts install besides custom resources, as Helm would render it."""
