"""PowerShell 5.1 as a syntax tree, and the house rules over it: each rule gives the places where a script breaks it.

PSScriptAnalyzer needs PowerShell; these rules need a grammar alone, so they run on any machine.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import tree_sitter
import tree_sitter_powershell

LANGUAGE = tree_sitter.Language(tree_sitter_powershell.language())
PARSER = tree_sitter.Parser(LANGUAGE)

CMDLETS: Mapping[str, str] = {
    # name: parameters that are used
    "Add-Content": "LiteralPath Value Encoding",
    "Add-MpPreference": "ExclusionPath ExclusionProcess",
    "Complete-ASLifecycleAction": "AutoScalingGroupName InstanceId LifecycleActionResult LifecycleHookName Region "
    "Force",
    "ConvertFrom-Json": "InputObject",
    "ConvertTo-Json": "InputObject Compress Depth",
    "Copy-Item": "LiteralPath Destination Force",
    "Enable-BitLocker": "MountPoint EncryptionMethod UsedSpaceOnly TpmProtector SkipHardwareTest",
    "Expand-Archive": "LiteralPath DestinationPath Force",
    "ForEach-Object": "",
    "Format-Volume": "DriveLetter FileSystem NewFileSystemLabel Confirm",
    "Get-BitLockerVolume": "MountPoint",
    "Get-ChildItem": "LiteralPath File",
    "Get-CimInstance": "ClassName Filter",
    "Get-Content": "LiteralPath Raw Encoding",
    "Get-Disk": "",
    "Get-FileHash": "LiteralPath Algorithm",
    "Get-HnsNetwork": "",
    "Get-HnsPolicyList": "",
    "Get-Item": "LiteralPath",
    "Get-NetFirewallRule": "Name ErrorAction",
    "Get-NetIPAddress": "InterfaceIndex AddressFamily",
    "Get-NetRoute": "DestinationPrefix ErrorAction",
    "Get-SSMParameter": "Name WithDecryption Region",
    "Get-Service": "Name ErrorAction",
    "Get-Volume": "DriveLetter ErrorAction",
    "Get-WindowsFeature": "Name",
    "Initialize-Disk": "Number PartitionStyle",
    "Install-WindowsFeature": "Name",
    "Invoke-CimMethod": "InputObject MethodName Arguments",
    "Invoke-RestMethod": "Method Uri Headers TimeoutSec",
    "Move-Item": "LiteralPath Destination Force ErrorAction",
    "New-CimInstance": "ClassName Property",
    "New-EC2Tag": "Resource Tag Region",
    "New-Item": "ItemType Force Path",
    "New-ItemProperty": "LiteralPath Name PropertyType Value Force",
    "New-NetFirewallRule": "Name DisplayName Direction Action Protocol LocalPort",
    "New-Object": "TypeName ArgumentList",
    "New-Partition": "DiskNumber UseMaximumSize DriveLetter",
    "New-ScheduledTaskAction": "Execute Argument",
    "New-ScheduledTaskPrincipal": "UserId LogonType RunLevel",
    "New-ScheduledTaskSettingsSet": "ExecutionTimeLimit RestartCount RestartInterval MultipleInstances",
    "New-ScheduledTaskTrigger": "AtStartup",
    "New-Service": "Name DisplayName BinaryPathName StartupType DependsOn",
    "Out-Null": "",
    "Read-S3Object": "BucketName Key File Region",
    "Register-ScheduledTask": "TaskName Action Trigger Principal Settings Force",
    "Remove-HnsNetwork": "",
    "Remove-HnsPolicyList": "",
    "Remove-Item": "LiteralPath Recurse Force",
    "Restart-Service": "Name Force",
    "Set-CimInstance": "InputObject Property",
    "Set-StrictMode": "Version",
    "Sort-Object": "Property",
    "Split-Path": "Path Parent",
    "Start-ScheduledTask": "TaskName",
    "Start-Service": "Name",
    "Start-Sleep": "Seconds",
    "Stop-Service": "Name Force",
    "Test-Path": "LiteralPath PathType",
    "Where-Object": "",
    "Write-ASLifecycleActionHeartbeat": "AutoScalingGroupName LifecycleHookName InstanceId Region Force",
    "Write-S3Object": "BucketName Key Content Region",
}
"""Every command of others that scripts may use, with the parameters that they may give it."""

PROGRAMS = {"curl.exe", "icacls.exe", "netsh.exe", "powershell.exe", "route.exe", "sc.exe", "tar.exe"}
"""Programs of Windows that are run, by their full path."""

ALIASES = {
    "cat", "cd", "copy", "curl", "cp", "cpi", "del", "dir", "echo", "erase", "fl", "foreach", "ft", "gc", "gci", "gcm",
    "gi", "gp", "gsv", "gwmi", "h", "iex", "irm", "iwr", "kill", "ls", "md", "mi", "mkdir", "move", "mv", "ni", "ps",
    "pwd", "ren", "ri", "rm", "rmdir", "sasv", "sc", "select", "set", "sleep", "sort", "sp", "spsv", "start", "tee",
    "type", "wget", "where", "write", "%", "?",
}  # fmt: skip

VERBS = {
    "Add", "Clear", "Complete", "ConvertTo", "Expand", "Get", "Initialize", "Install", "Invoke", "Join", "Move", "Open",
    "Protect", "Publish", "Receive", "Register", "Remove", "Repair", "Save", "Send", "Set", "Start", "Stop", "Test",
    "Watch", "Write",
}  # fmt: skip
"""Of the approved verbs of PowerShell (Get-Verb), those in use."""

NETWORK: Mapping[str, set[tuple[str, str]]] = {
    "Read-S3Object": {("Loader.ps1", "Get-CheckedObject"), ("Artefacts.ps1", "Receive-File")},
    "curl.exe": {("Artefacts.ps1", "Receive-File")},
    "Receive-File": {("Artefacts.ps1", "Save-Artefact")},
    "Invoke-RestMethod": {("Metadata.ps1", "Get-Metadata")},
}
"""What fetches something, and the functions that may use it: they check what came, or ask the metadata service."""

NEW_OPERATORS = {"&&", "||", "??", "??=", "?.", "?[", "?"}
AUTOMATIC = {"_", "null", "true", "false", "matches", "lastexitcode", "psscriptroot", "erroractionpreference",
             "progresspreference", "psitem", "args", "input", "error", "this"}  # fmt: skip
SECRETS = {"parameter", "token", "headers"}
OUTPUTS = {"Write-Log", "Write-Serial", "Publish-Status"}


@dataclass(frozen=True)
class Script:
    """A script with its tree."""

    name: str
    text: str

    @cached_property
    def root(self) -> tree_sitter.Node:
        return PARSER.parse(self.text.encode()).root_node

    def words(self, node: tree_sitter.Node) -> str:
        return self.text.encode()[node.start_byte : node.end_byte].decode()

    def place(self, node: tree_sitter.Node) -> str:
        return f"{self.name}:{node.start_point[0] + 1}"

    @cached_property
    def nodes(self) -> tuple[tree_sitter.Node, ...]:
        return tuple(walk(self.root))

    def of_type(self, *types: str) -> Iterator[tree_sitter.Node]:
        return (node for node in self.nodes if node.type in types)

    def function_of(self, node: tree_sitter.Node | None) -> str:
        """The function around a node; empty at the top of the script."""
        while node is not None:
            if node.type == "function_statement":
                return self.words(child(node, "function_name"))
            node = node.parent
        return ""

    @cached_property
    def functions(self) -> dict[str, tree_sitter.Node]:
        return {self.words(child(node, "function_name")): node for node in self.of_type("function_statement")}

    def calls(self) -> Iterator[tuple[tree_sitter.Node, str]]:
        """Every command with its name: of a program the file name, of an invoked variable ``$name``."""
        for node in self.of_type("command"):
            name = child_or_none(node, "command_name") or child_or_none(node, "command_name_expr")
            assert name is not None
            text = self.words(name).strip("\"'")
            yield node, text.rpartition("\\")[2]

    def parameters(self, call: tree_sitter.Node) -> list[str]:
        elements = child_or_none(call, "command_elements")
        if elements is None:
            return []
        names = [self.words(node) for node in elements.children if node.type == "command_parameter"]
        return [name.strip("-").partition(":")[0] for name in names]

    def declared(self, function: tree_sitter.Node | None = None) -> dict[str, bool]:
        """Parameters of a function or of the script, with whether they are mandatory."""
        block = next((node for node in walk(function or self.root) if node.type == "param_block"), None)
        if block is None or (function is None and self.function_of(block)):
            return {}
        found: dict[str, bool] = {}
        for node in walk(block):
            if node.type == "script_parameter":
                variables = [one for one in node.children if one.type == "variable"]
                found[self.words(variables[-1]).strip("$")] = "Mandatory = $true" in self.words(node)
        return found


def walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for one in node.children:
        yield from walk(one)


def child(node: tree_sitter.Node, kind: str) -> tree_sitter.Node:
    found = child_or_none(node, kind)
    assert found is not None, f"no {kind} in {node}"
    return found


def child_or_none(node: tree_sitter.Node, kind: str) -> tree_sitter.Node | None:
    return next((one for one in node.children if one.type == kind), None)


Bundle = Mapping[str, Script]
Problems = Iterator[str]


def bundle_of(texts: Mapping[str, str]) -> Bundle:
    return {name: Script(name, text) for name, text in texts.items()}


def grammar(scripts: Bundle) -> Problems:
    """A script is PowerShell without a mistake in it."""
    for script in scripts.values():
        for node in script.nodes:
            if node.type == "ERROR" or node.is_missing:
                yield f"{script.place(node)}: not understood: {script.words(node)[:40]!r}"


def plain_text(scripts: Bundle) -> Problems:
    """ASCII alone: Windows PowerShell reads a file without a byte order mark in the code page of the system."""
    for script in scripts.values():
        for number, line in enumerate(script.text.splitlines(), 1):
            if not line.isascii() or "\t" in line:
                yield f"{script.name}:{number}: not plain ASCII"


def strict_first(scripts: Bundle) -> Problems:
    """The first two statements switch strict mode on and make errors end the script."""
    first = ["Set-StrictMode -Version 3.0", "$ErrorActionPreference = 'Stop'"]
    for script in scripts.values():
        body = child_or_none(script.root, "statement_list")
        statements = [script.words(node).strip() for node in body.children[:2]] if body else []
        if statements != first:
            yield f"{script.name}: begins with {statements}"


def known_commands(scripts: Bundle) -> Problems:
    """Only commands of the list, functions of the bundle, and programs by their full path; no alias."""
    own = {name for script in scripts.values() for name in script.functions}
    for script in scripts.values():
        for node, name in script.calls():
            operator = child_or_none(node, "command_invokation_operator")
            if name in own or name in CMDLETS:
                continue
            if name.lower() in ALIASES:
                yield f"{script.place(node)}: the alias {name}"
            elif operator is None:
                yield f"{script.place(node)}: the command {name}"
            elif name.lower().endswith(".ps1") and "$PSScriptRoot\\" in script.words(node):
                if name not in scripts:
                    yield f"{script.place(node)}: the script {name} is not in the bundle"
            elif name.endswith(".ps1") and script.name == "Loader.ps1":
                continue
            elif name.lower().endswith(".exe"):
                full = "$System32\\" in script.words(node) or "$env:SystemRoot\\" in script.words(node)
                if name not in PROGRAMS or not full:
                    yield f"{script.place(node)}: the program {name}"
            elif name not in ("$Action", "$Path", "$step.Action"):
                yield f"{script.place(node)}: the invoked {name}"


def no_evaluation(scripts: Bundle) -> Problems:
    """No text becomes code."""
    for script in scripts.values():
        for node, name in script.calls():
            if name.lower() in ("invoke-expression", "iex", "add-type", "invoke-command"):
                yield f"{script.place(node)}: {name}"
        for node in script.of_type("invokation_expression"):
            if script.words(node).lower().startswith(("[scriptblock]::create", "$executioncontext.invokecommand")):
                yield f"{script.place(node)}: a script block out of text"


def parameters_exist(scripts: Bundle) -> Problems:
    """Calls give parameters that there are, written out, and all that are mandatory."""
    own = {name: script.declared(node) for script in scripts.values() for name, node in script.functions.items()}
    own |= {name: script.declared() for name, script in scripts.items()}
    for script in scripts.values():
        for node, name in script.calls():
            given = script.parameters(node)
            if name in CMDLETS:
                allowed = set(CMDLETS[name].split())
                missing: set[str] = set()
            elif name in own and not script.words(node).startswith(". "):
                allowed = set(own[name])
                missing = {parameter for parameter, mandatory in own[name].items() if mandatory} - set(given)
            else:
                continue
            for parameter in given:
                if parameter not in allowed:
                    yield f"{script.place(node)}: {name} has no -{parameter}"
            for parameter in sorted(missing):
                yield f"{script.place(node)}: {name} lacks -{parameter}"
            elements = child_or_none(node, "command_elements")
            positional = _positional(script, elements) if name in own and elements else 0
            if positional:
                yield f"{script.place(node)}: {name} is given a value without the name of its parameter"


def _positional(script: Script, elements: tree_sitter.Node) -> int:
    """Values that stand behind no parameter: switches are followed by a parameter or by nothing."""
    kinds = [node.type for node in elements.children if node.type != "command_argument_sep"]
    return sum(kind != "command_parameter" and (i == 0 or kinds[i - 1] != "command_parameter")
               for i, kind in enumerate(kinds))  # fmt: skip


def downloads_checked(scripts: Bundle) -> Problems:
    """What fetches something is used by the functions that check it, and nowhere else."""
    for script in scripts.values():
        for node, name in script.calls():
            where = (script.name, script.function_of(node))
            lower = name.lower()
            if name in NETWORK and where not in NETWORK[name]:
                yield f"{script.place(node)}: {name} in {where[1] or 'the script itself'}"
            elif lower in ("invoke-webrequest", "start-bitstransfer", "certutil.exe", "bitsadmin.exe"):
                yield f"{script.place(node)}: {name}"
        for node in script.of_type("type_literal"):
            if "webclient" in script.words(node).lower() or "httpclient" in script.words(node).lower():
                yield f"{script.place(node)}: {script.words(node)}"
        for node, name in script.calls():
            if name == "New-Object" and "webclient" in script.words(node).lower():
                yield f"{script.place(node)}: a web client of its own"


def old_operators(scripts: Bundle) -> Problems:
    """Nothing that came with PowerShell 6 or 7: servers have 5.1."""
    for script in scripts.values():
        for node in script.nodes:
            if node.type == "pipeline_chain_tail" or (node.child_count == 0 and node.type in NEW_OPERATORS):
                yield f"{script.place(node)}: {script.words(node)}"
            elif node.type == "ERROR" and script.words(node).strip() in NEW_OPERATORS:
                yield f"{script.place(node)}: {script.words(node).strip()}"


def approved_names(scripts: Bundle) -> Problems:
    """Functions are called Verb-Noun with a verb that PowerShell approves of, and each name is given once."""
    seen: dict[str, str] = {}
    for script in scripts.values():
        for name, node in script.functions.items():
            verb, dash, noun = name.partition("-")
            if not dash or verb not in VERBS or not noun[:1].isupper():
                yield f"{script.place(node)}: {name}"
            if name in seen and script.name != "Loader.ps1" and seen[name] != "Loader.ps1":
                yield f"{script.place(node)}: {name} is also in {seen[name]}"
            seen[name] = script.name


def no_secret_shown(scripts: Bundle) -> Problems:
    """No secret reaches a log, a tag, the status or the console, and nothing is written to a host."""
    for script in scripts.values():
        for node, name in script.calls():
            if name.lower() in ("write-host", "write-output", "write-verbose", "write-debug", "out-host", "tee-object"):
                yield f"{script.place(node)}: {name}"
            if name in OUTPUTS:
                for variable in walk(node):
                    if variable.type == "variable" and script.words(variable).strip("$").lower() in SECRETS:
                        yield f"{script.place(node)}: {script.words(variable)} in {name}"
        for node in script.of_type("invokation_expression"):
            if "[Console]" in script.words(node) and any(
                one.type == "variable" and script.words(one).strip("$").lower() in SECRETS for one in walk(node)
            ):
                yield f"{script.place(node)}: a secret on the console"


def functions_at_hand(scripts: Bundle) -> Problems:
    """A script that is run has every function that its own calls lead to, out of the files that it takes in."""
    home = {name: script for script in scripts.values() if script.name != "Loader.ps1" for name in script.functions}
    for script in scripts.values():
        taken = {name for node, name in script.calls() if script.words(node).startswith(". ")}
        if not taken:
            continue
        todo = [(node, name) for node, name in script.calls() if name in home]
        done: set[str] = set()
        while todo:
            _, name = todo.pop()
            if name in done:
                continue
            done.add(name)
            source = home[name]
            if source.name != script.name and source.name not in taken:
                yield f"{script.name}: {name} is in {source.name}, which it does not take in"
            function = source.functions[name]
            inside = [(one, call) for one, call in source.calls() if source.function_of(one) == name and call in home]
            assert function is not None
            todo += inside


def functions_used(scripts: Bundle) -> Problems:
    """No function lies unused."""
    called = {name for script in scripts.values() for _, name in script.calls()}
    for script in scripts.values():
        for name, node in script.functions.items():
            if name not in called:
                yield f"{script.place(node)}: {name} is used by nothing"


def variables_set(scripts: Bundle) -> Problems:
    """Strict mode ends a script at a variable that was never set: every one is set in its function or at the top."""
    shared = {name for script in scripts.values() for name in _assigned(script, "")} | AUTOMATIC | {"boot"}
    shared |= {name.lower() for script in scripts.values() for name in script.declared()}
    for script in scripts.values():
        for node in script.of_type("variable"):
            name = script.words(node).lstrip("$@").strip("{}").lower()
            function = script.function_of(node)
            if ":" in name or name in shared:
                continue
            local = _assigned(script, function)
            if function:
                local |= {one.lower() for one in script.declared(script.functions[function])}
            if name not in local:
                yield f"{script.place(node)}: ${name} is not set in {function or 'the script'}"


def _assigned(script: Script, function: str) -> set[str]:
    found: set[str] = set()
    for node in script.of_type("left_assignment_expression", "foreach_statement"):
        if script.function_of(node) != function:
            continue
        if node.type == "foreach_statement":
            names = [one for one in node.children if one.type == "variable"]
        else:
            names = [one for one in walk(node) if one.type == "variable"]
        found |= {script.words(one).lstrip("$").lower() for one in names}
    return found


RULES: Mapping[str, Callable[[Bundle], Problems]] = {
    rule.__name__: rule
    for rule in (
        grammar, plain_text, strict_first, known_commands, no_evaluation, parameters_exist, downloads_checked,
        old_operators, approved_names, no_secret_shown, functions_at_hand, functions_used, variables_set,
    )
}  # fmt: skip


def document_reads(scripts: Bundle) -> dict[str, str]:
    """Every path of the node document that a script reads, with the place: ``windows.registry[].name``.

    Read are members of ``$Document``, and members of a loop's variable over a part of it.
    """
    reads: dict[str, str] = {}
    for script in scripts.values():
        loops = {
            (script.function_of(node), script.words(child(node, "variable")).lstrip("$").lower()): node
            for node in script.of_type("foreach_statement")
        }
        for node in script.of_type("member_access"):
            parent = node.parent
            if parent is not None and parent.type == "member_access" and parent.children[0] == node:
                continue
            path = _path(script, node, loops)
            if path:
                reads.setdefault(path, script.place(node))
    return reads


def _path(script: Script, node: tree_sitter.Node, loops: Mapping[tuple[str, str], tree_sitter.Node]) -> str:
    names: list[str] = []
    while node.type == "member_access":
        names.insert(0, script.words(child(node, "member_name")))
        node = node.children[0]
    if node.type != "variable":
        return ""
    root = script.words(node).lstrip("$").lower()
    if root == "document":
        return ".".join(names)
    loop = loops.get((script.function_of(node), root))
    if loop is None:
        return ""
    over = [one for one in walk(child(loop, "pipeline")) if one.type == "member_access"]
    if not over:
        return ""
    outer = _path(script, over[0], loops)
    return f"{outer}[].{'.'.join(names)}" if outer else ""
