"""The grants of a cluster as a ValidatingAdmissionPolicy."""
