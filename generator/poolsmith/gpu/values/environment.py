"""Variables that Helm values give to a component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.gpu.values.document import Steps, ValuesDocument

MOST = 1000


@record(kw_only=False)
class EnvironmentVariable:
    """`path` leads to the entry. A value that is taken from elsewhere, or is no text, is empty."""

    name: str
    value: str
    path: tuple[str | int, ...]
    own: bool


class Environment:
    """The variables of one component, the last of two of a name; `own` ones stand in the document itself."""

    def __init__(self, document: ValuesDocument, component: Steps) -> None:
        path = (*component, "env")
        own = document.has(path)
        entries = document.effective(path)
        self.entries: list[EnvironmentVariable] = []
        for index, entry in enumerate(entries[:MOST] if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                value = entry.get("value")
                text = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else ""
                self.entries.append(EnvironmentVariable(entry["name"], text, (*path, index), own))
        self._by_name = {variable.name: variable for variable in self.entries}

    def get(self, *names: str) -> EnvironmentVariable | None:
        """The first of `names` that is set to something."""
        return next((found for name in names if (found := self._by_name.get(name)) and found.value), None)

    def says(self, name: str, *values: str) -> bool:
        """Whether a variable has one of these values, whatever its case."""
        found = self.get(name)
        return found is not None and found.value.strip().lower() in values

    def __contains__(self, name: str) -> bool:
        return name in self._by_name


def toolkit_environment(document: ValuesDocument) -> Environment | None:
    """What the toolkit gets; None where these values say nothing of it, or where the toolkit is off."""
    if not document.has(("toolkit", "env")) or document.effective(("toolkit", "enabled")) is False:
        return None
    return Environment(document, ("toolkit",))
