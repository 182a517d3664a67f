"""Runs a Python policy pack on a plan, as the engine would, but without its servers.

The ``__main__.py`` of the pack runs as under the CLI until it creates its ``PolicyPack``. The real constructor starts a
server and never returns; here it hands over the policies. An unknown value raises in a policy exactly as in the SDK. A
policy at level *remediate* first changes a copy of the inputs; then every policy sees the result.
"""

import asyncio
import contextlib
import contextvars
import inspect
import json
import re
import runpy
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pulumi_policy
from pulumi.runtime import settings as sdk_settings
from pulumi_policy import policy as sdk
from pulumi_policy.deserialize import deserialize_properties, serialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from ..errors import PreviewError, own_frame
from ..model import SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN, Finding, Plan, Reference, Resource, Secret, Severity
from ..text.suggestions import closest
from .sdk_inputs import computed_names

_NotApplicableError = cast(type[Exception], sdk._NotApplicableError)  # pyright: ignore[reportPrivateUsage]
_Level = pulumi_policy.EnforcementLevel
_LEVELS = {level.value: level for level in _Level}


def run_policies(plan: Plan, folder: Path, config: Mapping[str, Any] | None = None) -> list[Finding]:
    """Run the policy pack in ``folder`` on every resource of ``plan`` and on the whole stack.

    :param config: as for ``--policy-pack-config``: policy name, or ``all``, to a level, or to an object with
        ``enforcementLevel`` and the properties of the policy.
    :raises PreviewError: the pack cannot be loaded, or the configuration does not match it.
    """
    return contextvars.copy_context().run(_run_policies, plan, Path(folder).resolve(), config or {})


def read_policy_config(path: Path) -> Mapping[str, Any]:
    """The configuration in a file, as ``--policy-pack-config`` reads it.

    :raises PreviewError: the file is missing, is not JSON, or is not a mapping.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PreviewError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise PreviewError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise PreviewError(f"{path} must map policies to a level or to an object, got {type(content).__name__}")
    return cast(dict[str, Any], content)


def _run_policies(plan: Plan, folder: Path, config: Mapping[str, Any]) -> list[Finding]:
    with _inside(folder):
        _settle(plan)
        pack = _load(folder)
        run = _Run(plan, pack, _reconcile(pack, config))
        run.warn_of_unknown_names(config)
        run.resources()
        run.stack()
        return run.finish()


# -- the pack ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pack:
    """The arguments with which ``__main__.py`` of a pack creates its ``PolicyPack``."""

    name: str
    policies: Sequence[pulumi_policy.Policy]
    level: pulumi_policy.EnforcementLevel
    initial: Mapping[str, Any]


class _PackBuilt(BaseException):
    """Ends ``__main__`` of the pack where the real constructor would start its server; a pack cannot catch it."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.arguments = arguments


@contextlib.contextmanager
def _inside(folder: Path) -> Generator[None]:
    """Run with the folder of the pack as working directory, and first on the path."""
    if not (folder / "__main__.py").is_file():
        raise PreviewError(f"{folder} is not a Python policy pack: it has no __main__.py")
    path, modules = list(sys.path), set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        # What a pack prints must not mix with the plan.
        with contextlib.chdir(folder), contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.path[:] = path
        # Its bare-named modules are forgotten: the next pack may have others of the same names.
        for name in set(sys.modules) - modules:
            top = name.partition(".")[0]
            if (folder / top).is_dir() or (folder / f"{top}.py").is_file():
                del sys.modules[name]


def _settle(plan: Plan) -> None:
    """Set the project, the stack and the mode for the pack, as the analyzer of the SDK does."""
    sdk_settings.configure(
        sdk_settings.Settings(
            project=plan.project, stack=plan.stack, dry_run=plan.mode == "preview", organization="organization"
        )
    )


def _load(folder: Path) -> Pack:
    original = pulumi_policy.PolicyPack.__init__
    signature = inspect.signature(original)

    def hand_over(self: Any, *args: Any, **kwargs: Any) -> None:
        raise _PackBuilt(signature.bind(self, *args, **kwargs).arguments)

    # The class itself is changed for the moment, so that a name bound before sees it too.
    pulumi_policy.PolicyPack.__init__ = hand_over
    try:
        runpy.run_path(str(folder), run_name="__main__")
    except _PackBuilt as built:
        return _pack(built.arguments)
    except (Exception, SystemExit) as error:
        frame = own_frame(error, str(folder))
        at = f"\n  at {frame}" if frame else ""
        raise PreviewError(f"the policy pack in {folder} failed: {type(error).__name__}: {error}{at}") from error
    finally:
        pulumi_policy.PolicyPack.__init__ = original
    raise PreviewError(f"the policy pack in {folder} creates no PolicyPack; create one at the end of its __main__.py")


def _pack(arguments: Mapping[str, Any]) -> Pack:
    name, policies = arguments.get("name"), arguments.get("policies")
    if not isinstance(name, str) or not re.fullmatch(r"[a-zA-Z0-9-_.]{1,100}", name):
        raise PreviewError(
            f"the name of a policy pack consists of letters, digits, hyphens, underscores and dots, got {name!r}"
        )
    if not isinstance(policies, list) or not policies:
        raise PreviewError(f'the policy pack "{name}" has no list of policies')
    for policy in cast(list[Any], policies):
        if not isinstance(policy, pulumi_policy.Policy):
            raise PreviewError(f'the policy pack "{name}" contains an item that is not a policy: {policy!r}')
    level = arguments.get("enforcement_level") or _Level.ADVISORY
    return Pack(name, cast(list[pulumi_policy.Policy], policies), level, arguments.get("initial_config") or {})


# -- its configuration --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Setting:
    """The level and the properties of a policy."""

    level: pulumi_policy.EnforcementLevel
    defaults: Mapping[str, Any]
    """The defaults in the schema of the policy."""
    properties: dict[str, Any]


def _reconcile(pack: Pack, config: Mapping[str, Any]) -> dict[str, _Setting]:
    """Levels and properties, merged as the CLI does: of the policies, of the pack, of the configuration."""
    settings: dict[str, _Setting] = {}
    for policy in pack.policies:
        declared = policy.config_schema.properties if policy.config_schema else {}
        defaults = {key: schema["default"] for key, schema in declared.items() if "default" in schema}
        settings[policy.name] = _Setting(policy.enforcement_level or pack.level, defaults, dict(defaults))
    for layer in (pack.initial, config):
        level, _ = _entry("all", layer.get("all", {}))
        for setting in settings.values() if level else ():
            setting.level = level
        for name, entry in layer.items():
            if name in settings and name != "all":
                level, properties = _entry(name, entry)
                settings[name].level = level or settings[name].level
                settings[name].properties |= properties
    problems = [problem for policy in pack.policies for problem in _problems(policy, settings[policy.name])]
    if problems:
        raise PreviewError("\n  ".join([f'the configuration does not match the policy pack "{pack.name}":', *problems]))
    return settings


def _entry(name: str, entry: Any) -> tuple[Any, dict[str, Any]]:
    if isinstance(entry, Mapping):
        properties = dict(cast(Mapping[str, Any], entry))
        level = properties.pop("enforcementLevel", None)
    else:
        level, properties = entry, {}
    if level is None or isinstance(level, _Level):
        return level, properties
    if level not in _LEVELS:
        raise PreviewError(
            f"policy configuration: {name}: the level must be one of {', '.join(_LEVELS)}, got {level!r}"
        )
    return _LEVELS[level], properties


def _problems(policy: pulumi_policy.Policy, setting: _Setting) -> Iterator[str]:
    schema = policy.config_schema
    if schema is None or setting.level is _Level.DISABLED:
        return
    if setting.properties == setting.defaults and setting.defaults.keys() >= set(schema.required or ()):
        return  # nothing was configured, and nothing has to be
    from jsonschema import Draft202012Validator  # only here: its import costs more than all policies together

    document = {"type": "object", "properties": schema.properties, "required": schema.required or []}
    for error in Draft202012Validator(document).iter_errors(setting.properties):  # pyright: ignore[reportUnknownMemberType]
        yield f"{'.'.join([policy.name, *map(str, error.path)])}: {error.message}"


# -- what a policy is given -----------------------------------------------------------------------------------------


def _wire(value: Any, *, secrets: bool) -> Any:
    """A decoded value in the form of the protocol. Secrets keep their mark for remediations only."""
    if value is UNKNOWN:
        return UNKNOWN_STRING_VALUE
    if isinstance(value, dict):
        return {key: _wire(inner, secrets=secrets) for key, inner in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_wire(inner, secrets=secrets) for inner in cast(list[Any], value)]
    if isinstance(value, Secret):
        inner = _wire(value.value, secrets=secrets)
        return {SIGNATURE_KEY: SECRET_SIGNATURE, "value": inner} if secrets else inner
    if isinstance(value, Reference):  # the SDK cannot read one; providers get the id
        return _wire(value.id, secrets=secrets) or value.urn
    return value


@dataclass(slots=True, eq=False)
class _Subject:
    """A resource as policies see it. Costly parts are made on first use: most policies look at the type only."""

    resource: Resource
    plan: Plan
    outputs: bool = False
    """Whether policies see its outputs (stack policies) or its inputs."""
    secrets: bool = False
    """Whether secrets keep their mark (remediations)."""
    changed: dict[str, Any] | None = None
    """The inputs after remediations, in the form of the protocol."""

    def make(self, name: str) -> Any:
        """``props``, ``opts`` or ``provider``."""
        if name == "props":
            wire = self._outputs() if self.outputs else self.changed
            wire = _wire(self.resource.inputs, secrets=self.secrets) if wire is None else wire
            return unknown_checking_proxy(deserialize_properties(wire, self.secrets))
        if name == "opts":
            return _options(self.resource)
        if name == "provider":
            return self._provider()
        raise AttributeError(name)

    def _outputs(self) -> dict[str, Any]:
        """The outputs that a component registered, or the inputs of a resource with unknown computed properties."""
        resource = self.resource
        wire = _wire(resource.inputs if resource.custom else resource.outputs or resource.inputs, secrets=False)
        if resource.custom:
            wire |= {name: UNKNOWN_STRING_VALUE for name in computed_names(resource.type) if name not in wire}
        return wire

    def _provider(self) -> pulumi_policy.PolicyProviderResource | None:
        """The explicit provider. Default providers are created by the engine and are in no plan."""
        provider = self.plan.by_urn.get(self.resource.options.provider.rpartition("::")[0])
        if provider is None:
            return None
        return _Provider(_Subject(provider, self.plan))


class _Late:
    """Mixed into the arguments of policies: makes the parts that were left out, on first use."""

    _subject: _Subject

    def __getattr__(self, name: str) -> Any:
        if name == "_subject":
            raise AttributeError(name)
        value = self.__dict__[name] = self._subject.make(name)
        return value

    def _leave_out(self, subject: _Subject, *names: str) -> None:
        for name in names:
            del self.__dict__[name]
        self._subject = subject


class _Provider(_Late, pulumi_policy.PolicyProviderResource):
    """The provider of a resource."""

    def __init__(self, subject: _Subject) -> None:
        resource = subject.resource
        super().__init__(resource.type, cast(Any, None), resource.urn, resource.name)
        self._leave_out(subject, "props")


class _ResourceArgs(_Late, pulumi_policy.ResourceValidationArgs):
    """The arguments of a resource policy."""

    def __init__(self, subject: _Subject, config: Mapping[str, Any]) -> None:
        resource, later = subject.resource, cast(Any, None)
        super().__init__(resource.type, later, resource.urn, resource.name, later, None, config)
        self._leave_out(subject, "props", "opts", "provider")


class _StackResource(_Late, pulumi_policy.PolicyResource):
    """A resource as a stack policy sees it."""

    def __init__(self, subject: _Subject) -> None:
        resource, later = subject.resource, cast(Any, None)
        super().__init__(resource.type, later, resource.urn, resource.name, later, None, None, [], {})
        self._leave_out(subject, "props", "opts", "provider")


def _options(resource: Resource) -> pulumi_policy.PolicyResourceOptions:
    options = resource.options
    timeouts = (_seconds(options.custom_timeouts.get(name, "")) for name in ("create", "update", "delete"))
    return pulumi_policy.PolicyResourceOptions(
        options.protect,
        list(options.ignore_changes),
        options.delete_before_replace or None,
        list(options.aliases),
        pulumi_policy.PolicyCustomTimeouts(*timeouts),
        list(options.additional_secret_outputs),
        resource.parent or None,
    )


def _seconds(duration: str) -> float:
    """A Go duration in seconds.

    >>> _seconds("1h30m"), _seconds("")
    (5400.0, 0.0)
    """
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    return sum((float(n) * units[unit] for n, unit in re.findall(r"([\d.]+)(ms|h|m|s)", duration)), 0.0)


# -- the run --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """One run of a pack on a plan."""

    plan: Plan
    pack: Pack
    settings: Mapping[str, _Setting]
    findings: list[Finding] = field(default_factory=list[Finding])
    crashes: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])

    def resources(self) -> None:
        """Run every resource policy on every registered resource."""
        active = [
            (policy, self.settings[policy.name])
            for policy in self.pack.policies
            if isinstance(policy, pulumi_policy.ResourceValidationPolicy)
            and self.settings[policy.name].level is not _Level.DISABLED
        ]
        checks = [(policy, setting) for policy, setting in active if policy.has_validation()]
        fixes = [
            (policy, setting) for policy, setting in active
            if setting.level is _Level.REMEDIATE and policy.has_remediation()
        ]  # fmt: skip
        by_type: dict[str, list[tuple[pulumi_policy.ResourceValidationPolicy, _Setting]]] = {}
        for resource in self.plan.resources:
            if resource.read:
                continue
            subject = _Subject(resource, self.plan)
            for policy, setting in fixes:
                self._remediate(policy, setting, subject)
            if resource.type not in by_type:
                by_type[resource.type] = [
                    (policy, setting) for policy, setting in checks if _looks_at(policy, {resource.type})
                ]
            for policy, setting in by_type[resource.type]:
                arguments = _ResourceArgs(subject, dict(setting.properties))
                report = self._report(policy, setting, resource.urn)
                self._call(policy, resource.urn, lambda p=policy, a=arguments, r=report: p.validate(a, r))

    def stack(self) -> None:
        """Run every stack policy on all resources together."""
        types = {resource.type for resource in self.plan.resources}
        shared: list[pulumi_policy.PolicyResource] | None = None
        for policy in self.pack.policies:
            setting = self.settings[policy.name]
            if not isinstance(policy, pulumi_policy.StackValidationPolicy) or setting.level is _Level.DISABLED:
                continue
            if not _looks_at(policy, types):
                continue
            if hasattr(policy, "resource_types"):  # such a policy changes nothing, so that all may have the same
                resources = shared = shared or self._stack_resources()
            else:
                resources = self._stack_resources()
            arguments = pulumi_policy.StackValidationArgs(resources, dict(setting.properties))
            report = self._report(policy, setting, None)
            self._call(policy, "", lambda p=policy, a=arguments, r=report: p.validate(a, r))

    def _stack_resources(self) -> list[pulumi_policy.PolicyResource]:
        resources = self.plan.resources
        found = {resource.urn: _StackResource(_Subject(resource, self.plan, outputs=True)) for resource in resources}
        for resource in resources:
            seen, options = found[resource.urn], resource.options
            seen.parent = found.get(resource.parent)
            seen.dependencies = [found[urn] for urn in options.dependencies if urn in found]
            seen.property_dependencies = {
                key: [found[urn] for urn in urns if urn in found] for key, urns in options.property_dependencies.items()
            }
        return list(found.values())

    def _remediate(self, policy: pulumi_policy.ResourceValidationPolicy, setting: _Setting, subject: _Subject) -> None:
        urn = subject.resource.urn
        arguments = _ResourceArgs(replace(subject, secrets=True), dict(setting.properties))
        changed = self._call(policy, urn, lambda: policy.remediate(arguments))
        if changed:
            subject.changed = cast(dict[str, Any], serialize_properties(changed))
            self._find(policy, Severity.NOTE, "is remedied by the policy: the engine changes its inputs first", urn)

    def _report(self, policy: pulumi_policy.Policy, setting: _Setting, urn: str | None) -> Callable[..., None]:
        severity = Severity.WARNING if setting.level is _Level.ADVISORY else Severity.ERROR

        def report(message: str, reported: str | None = None) -> None:
            if message and not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError("Expected message to be a string")
            # A resource policy speaks of its resource, whatever URN it gives (as the SDK says).
            self._find(policy, severity, message or policy.description, (urn if urn is not None else reported) or "")

        return report

    def _call(self, policy: pulumi_policy.Policy, urn: str, call: Callable[[], Any]) -> Any:
        """Run a policy to its end. An exception becomes a finding."""
        try:
            result = call()
            return _wait(result) if inspect.isawaitable(result) else result
        except UnknownValueError as error:
            message = f"cannot be decided before the deployment: {error.message}"
            self._find(policy, Severity.NOTE, message, urn, ".".join(error.props))
        except _NotApplicableError:
            pass
        except Exception as error:
            self.crashes.setdefault((policy.name, f"{type(error).__name__}: {error}"), []).append(urn)
        return None

    def _find(
        self, policy: pulumi_policy.Policy, severity: Severity, message: str, urn: str = "", path: str = "",
        remedy: str | None = None,
    ) -> None:  # fmt: skip
        resource = self.plan.by_urn.get(urn)
        code = f"policy/{self.pack.name}/{policy.name}"
        if remedy is None:
            remedy = "" if severity is Severity.NOTE else _remedy(policy)
        source = resource.source if resource else None
        self.findings.append(Finding(code, severity, message, urn, source, path, remedy))

    def warn_of_unknown_names(self, config: Mapping[str, Any]) -> None:
        """Warn of configuration for policies that do not exist, which the CLI ignores silently."""
        for name in sorted(set(config) - set(self.settings) - {"all"}):
            near = closest(name, self.settings)
            remedy = f"write {near}" if near else f"the policies are {', '.join(self.settings)}"
            message = f'the configuration names a policy "{name}" that the pack does not have'
            self.findings.append(Finding(f"policy/{self.pack.name}", Severity.WARNING, message, remedy=remedy))

    def finish(self) -> list[Finding]:
        """All findings. A policy that failed several times in the same way is one finding."""
        policies = {policy.name: policy for policy in self.pack.policies}
        for (name, text), urns in self.crashes.items():
            more = f" (and on {len(urns) - 1} more)" if len(urns) > 1 else ""
            message = f'the policy "{name}" failed with an exception: {text}{more}; the engine would stop here'
            remedy = "fix the policy, or set its enforcement level to disabled"
            self._find(policies[name], Severity.ERROR, message, urns[0], remedy=remedy)
        return self.findings


def _looks_at(policy: pulumi_policy.Policy, types: Set[str]) -> bool:
    """Whether a policy applies to these types. One that does not declare its types always runs."""
    wanted = getattr(policy, "resource_types", None)
    return wanted is None or not types.isdisjoint(wanted)


def _remedy(policy: pulumi_policy.Policy) -> str:
    framework = policy.framework
    parts = [framework.name, framework.version, framework.reference] if framework else []
    reference = " ".join(part for part in parts if part)
    notes = "; ".join(note for note in (reference, policy.url or "") if note)
    steps = policy.remediation_steps or ""
    return f"{steps} ({notes})" if steps and notes else steps or notes


def _wait(result: Any) -> Any:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(result)
    finally:
        loop.close()
