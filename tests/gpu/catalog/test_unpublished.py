"""Images that an operator's values name and that nobody published."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.unpublished import unpublished

NAME = "cloud-native/gpu-operator-validator"


@pytest.mark.parametrize(
    ("image", "is_there"),
    [
        (f"nvcr.io/nvidia/{NAME}:v25.3.4", True),
        (f"nvcr.io/nvidia/{NAME}:v25.10.0", False),
        (f"registry.example.com:5000/mirror/nvidia/{NAME}:v26.3.3", False),
        (f"registry.example.com:5000/mirror/nvidia/{NAME}:v26.3.3-ours", True),
        (f"nvcr.io/nvidia/{NAME}@sha256:{'0' * 64}", True),
        ("registry.example.com/gpu-operator-validator:v26.3.3", True),
        ("nvcr.io/nvidia/gpu-operator:v26.3.3", True),
        (f"nvcr.io/nvidia/{NAME}", True),
    ],
)
def test_only_tags_after_the_last_one_are_known_to_be_absent(image, is_there):
    assert bool(unpublished(image)) is not is_there
