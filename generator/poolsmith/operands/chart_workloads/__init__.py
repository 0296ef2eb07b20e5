"""What Helm charts install beside custom resources, as Helm would render it. Floor: operands."""
