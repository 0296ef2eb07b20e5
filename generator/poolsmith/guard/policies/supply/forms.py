"""How addresses and image repositories are written: one spelling each, so that comparing texts compares places.

No passwords, queries, fragments, escapes, empty or dotted parts, upper-case hosts or trailing dots. A user name stands
only where SSH needs one.
"""

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_USER = r"[a-z][a-z0-9_-]{0,31}"
_PART = r"[A-Za-z0-9_][A-Za-z0-9._~+-]{0,200}"
_IMAGE_PART = r"[a-z0-9]([a-z0-9._-]{0,200}[a-z0-9])?"
HOST_NAME = rf"{_LABEL}(\.{_LABEL}){{0,20}}"
HOST = rf"{HOST_NAME}(:[1-9][0-9]{{0,4}})?"
_PARTS = rf"(/{_PART}){{0,20}}/?"
WEB_ADDRESS = rf"(https|oci)://{HOST}{_PARTS}"
GIT_ADDRESS = rf"((https|oci)://|ssh://({_USER}@)?){HOST}{_PARTS}|{_USER}@{HOST_NAME}:{_PART}{_PARTS}"
API_SERVER = rf"https://{HOST}{_PARTS}"
IMAGE_PLACE = rf"{HOST}(/{_IMAGE_PART}){{0,20}}"
REVISION = r"refs/(heads|tags)/[A-Za-z0-9._/*?-]{1,200}|[0-9a-f]{40}|sha256:[0-9a-f]{64}"
