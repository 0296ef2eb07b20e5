"""Image references as the operator's parser takes them.

Source: regclient/regclient:types/ref, with the repeated separators written so that none is empty.
"""

from __future__ import annotations

import re

from poolsmith.operands.kube import NotModelled, OperatorError

_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PORT = rf"{_LABEL}(?:\.{_LABEL})*\.?:[0-9]+"
_DOMAIN = rf"{_LABEL}(?:(?:\.{_LABEL})+\.?|\.)"
_UPPER = r"(?:[a-zA-Z0-9]*[A-Z][a-zA-Z0-9-]*[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[A-Z][a-zA-Z0-9]*)"
_REGISTRY = rf"(?:{_DOMAIN}|{_PORT}|{_UPPER}|localhost(?::[0-9]+))"
_PART = r"[a-z0-9]+(?:(?:[_.]|__|-+)[a-z0-9]+)*"
_TAG = r"[\w][\w.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(rf"(?:{_REGISTRY}/)?{_PART}(?:/{_PART})*(?::{_TAG})?(?:@{_DIGEST})?", re.ASCII)
_SCHEME = re.compile(r"[a-z]+://")


def check_reference(image: str) -> None:
    """Whether an image can be pulled by that name at all. Raises OperatorError, NotModelled for a URL."""
    if _SCHEME.match(image):
        raise NotModelled(f"an image with a scheme: {image}")
    if _REFERENCE.fullmatch(image):
        return
    ending = ", repo must be lowercase" if _REFERENCE.fullmatch(image.lower()) else ""
    raise OperatorError(f'invalid reference "{image}"{ending}')
