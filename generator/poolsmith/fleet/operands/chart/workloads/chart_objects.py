"""What becomes of a chart: its objects, its hooks, or why there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion import KubernetesObject

HOOK = "helm.sh/hook"


@record(kw_only=False)
class ChartError:
    """Why a chart renders nothing. `path` is the value that is to blame, with dots; it may be empty.

    `refusal`: the chart's own author says so, of a combination.
    """

    path: str
    message: str
    refusal: bool = False

    def __str__(self) -> str:
        return self.message

    def below(self, key: str) -> ChartError:
        """Of a subchart whose values stand at `key`."""
        path = f"{key}.{self.path}" if self.path else key
        return ChartError(path, self.message.replace(f".Values.{self.path}>", f".Values.{path}>"))


@record(kw_only=False)
class ChartWorkloads:
    """What a chart installs besides custom resources and their definitions.

    `hooks` exist only while Helm installs, upgrades or deletes. `unknown` says what is not modelled. With `errors`
    the chart renders nothing, or something else than its templates mean.
    """

    objects: tuple[KubernetesObject, ...] = ()
    hooks: tuple[KubernetesObject, ...] = ()
    unknown: tuple[str, ...] = ()
    errors: tuple[ChartError, ...] = ()

    def with_more(self, other: ChartWorkloads) -> ChartWorkloads:
        if self.errors or other.errors:
            return ChartWorkloads(errors=self.errors + other.errors)
        return ChartWorkloads(self.objects + other.objects, self.hooks + other.hooks, self.unknown + other.unknown)


@record
class ReleasePlace:
    """Where Helm puts a chart. `name` is the chart's own name, or its alias as part of another chart."""

    helm_release: str
    namespace: str
    name: str
