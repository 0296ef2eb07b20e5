"""The checks of the Pod Security Standards, one file each."""
