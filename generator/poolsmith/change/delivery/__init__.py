"""What does a change do? Privileges, disruption, images, values and objects, held against the base."""
