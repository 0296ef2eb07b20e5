"""The configurations of the operator's device plugin that a cluster has: which ConfigMap, with which texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.guard.rules.setup.view import Place, SetupObject, SetupView

NAME, CREATE, DATA, DEFAULT = (f"devicePlugin.config.{key}" for key in ("name", "create", "data", "default"))


@record
class PluginConfigs:
    """`texts` by their names, None where they stand elsewhere. `default` is empty where none is named.

    `place` takes pointers below what holds the texts; `named_at` is where the default or the name stands.
    """

    shown: str
    texts: Mapping[str, Any] | None
    place: Place
    named_at: Location
    default: str = ""
    written: Callable[[str], tuple[SourceFile, str] | None] = lambda _: None
    """From a pointer below what holds the texts to what it is written in."""

    def inside(self, name: str, text: str, path: str) -> Location:
        """The line within a text that a dotted path leads to, as far as the text's lines are those of the file."""
        pointer = join("", name)
        found = self.written(pointer)
        if found is None:
            return self.place(pointer)
        source, at = found
        steps = path.replace("[", ".").replace("]", "").split(".") if path else []
        return InnerText(source, at, text, None).locate(join("", *steps))


def operator_configs(view: SetupView) -> PluginConfigs | None:
    """Those of the operator's device plugin; None where it has none, or nobody can tell."""
    if view.values is None or view.flag("devicePlugin.enabled") is False:
        return None
    name, data, default = view.value(NAME), view.value(DATA), view.value(DEFAULT)
    if not isinstance(name, str) or not name:
        return None
    named_at = view.value_location(DEFAULT if view.is_set(DEFAULT) else NAME)
    default = default if isinstance(default, str) else ""
    if view.value(CREATE) is True:
        texts = data if isinstance(data, dict) and data else {}

        def place(pointer: str, note: str | None = None) -> Location:
            assert view.values is not None
            return view.values.place(f"/{DATA.replace('.', '/')}{pointer}", note)

        def written(pointer: str) -> tuple[SourceFile, str] | None:
            assert view.values is not None
            return view.values.written(f"/{DATA.replace('.', '/')}{pointer}")

        return PluginConfigs(
            shown=f"`{DATA}`", texts=texts, place=place, named_at=named_at, default=default, written=written
        )
    found = _config_map(view, name)
    if found is None:
        return PluginConfigs(shown=f"ConfigMap/{name}", texts=None, place=_nowhere(named_at), named_at=named_at)
    source = found.source
    return PluginConfigs(
        shown=found.name,
        texts=_texts(found),
        place=_below(found, "/data"),
        named_at=named_at,
        default=default,
        written=lambda pointer: None if source is None else (source, f"/data{pointer}"),
    )


def _config_map(view: SetupView, name: str) -> SetupObject | None:
    namespaces = (None, view.namespace)
    for item in view.of_kind("ConfigMap", ""):
        if item.own_name == name and (view.namespace is None or item.metadata.get("namespace") in namespaces):
            return item
    return None


def _texts(item: SetupObject) -> dict[str, Any]:
    """Each key is a file; those of binaryData hold no text that is read here."""
    found: dict[str, Any] = {}
    for field in ("binaryData", "data"):
        held = item.data.get(field)
        for key, text in held.items() if isinstance(held, dict) else ():
            found[str(key)] = text if field == "data" else None
    return found


def _below(item: SetupObject, top: str) -> Place:
    def place(pointer: str, note: str | None = None) -> Location:
        return item.place(top + pointer, note)

    return place


def _nowhere(location: Location) -> Place:
    def place(_pointer: str, _note: str | None = None) -> Location:
        return location

    return place
