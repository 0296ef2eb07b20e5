"""How a ClusterPolicy changes each operand that the operator creates. Floor: operands."""
