"""The PowerShell of the boot code: its grammar, and the house rules over its syntax tree.

PSScriptAnalyzer itself is not run: it needs PowerShell. What is held here is what it would say of errors, names and
aliases, and what it cannot know: which function may download, which parameters a cmdlet has, what a strict mode ends.
"""

import pytest
from winkube.windows_boot import paths
from winkube.windows_boot.bundle import ENTRY, LOADER, script_names

from .powershell import AUTOMATIC, CMDLETS, NETWORK, PROGRAMS, RULES, Bundle, Script, bundle_of

HEAD = "Set-StrictMode -Version 3.0\n$ErrorActionPreference = 'Stop'\n"

BROKEN: list[tuple[str, str, str, str]] = [
    ("grammar", "Common.ps1", "function Get-Thing {\n", "not understood"),
    ("grammar", "Common.ps1", "$x = $y ? 1 : 2\n", "not understood"),
    ("plain_text", "Common.ps1", "# “typographic”\n", "not plain ASCII"),
    ("known_commands", "Common.ps1", "gci C:\\k\n", "the alias gci"),
    ("known_commands", "Common.ps1", "Get-Process -Name a\n", "the command Get-Process"),
    ("known_commands", "Common.ps1", "route.exe PRINT\n", "the command route.exe"),
    ("known_commands", "Common.ps1", '& "$System32\\cmd.exe" /c dir\n', "the program cmd.exe"),
    ("known_commands", "Common.ps1", '& "C:\\tools\\curl.exe" x\n', "the program curl.exe"),
    ("known_commands", "Common.ps1", '. "$PSScriptRoot\\Other.ps1"\n', "Other.ps1 is not in the bundle"),
    ("known_commands", "Common.ps1", "& $whatever\n", "the invoked $whatever"),
    ("no_evaluation", "Common.ps1", "Invoke-Expression $x\n", "Invoke-Expression"),
    ("no_evaluation", "Common.ps1", "iex $x\n", "iex"),
    ("no_evaluation", "Common.ps1", "$x = [scriptblock]::Create('a')\n", "a script block out of text"),
    ("parameters_exist", "Common.ps1", "Start-Service -Nmae 'kubelet'\n", "Start-Service has no -Nmae"),
    ("parameters_exist", "Common.ps1", "function Get-It { param([Parameter(Mandatory = $true)]$A) }\nGet-It\n",
     "Get-It lacks -A"),
    ("parameters_exist", "Common.ps1", "function Get-It { param($A) }\nGet-It 1\n", "without the name"),
    ("downloads_checked", "Common.ps1", '& "$System32\\curl.exe" https://a.example\n', "curl.exe in the script"),
    ("downloads_checked", "System.ps1", "function Get-It { Receive-File -Url a -Path b }\n", "Receive-File in Get-It"),
    ("downloads_checked", "Common.ps1", "Invoke-WebRequest -Uri https://example.com\n", "Invoke-WebRequest"),
    ("downloads_checked", "Common.ps1", "Start-BitsTransfer -Source a\n", "Start-BitsTransfer"),
    ("downloads_checked", "Common.ps1", "$c = New-Object -TypeName Net.WebClient\n", "a web client of its own"),
    ("old_operators", "Common.ps1", "Get-Disk && Get-Disk\n", "&&"),
    ("old_operators", "Common.ps1", "Get-Disk || Get-Disk\n", "||"),
    ("old_operators", "Common.ps1", "$x = $y ?? 1\n", "??"),
    ("old_operators", "Common.ps1", "$x ??= 1\n", "??"),
    ("old_operators", "Common.ps1", "$x = $y ? 1 : 2\n", "?"),
    ("old_operators", "Common.ps1", "$x = ${y}?.z\n", "?"),
    ("approved_names", "Common.ps1", "function Fetch-Thing { }\n", "Fetch-Thing"),
    ("approved_names", "Common.ps1", "function doThing { }\n", "doThing"),
    ("no_secret_shown", "Common.ps1", "Write-Host $x\n", "Write-Host"),
    ("no_secret_shown", "Common.ps1", 'Write-Log -Message "token $token"\n', "$token in Write-Log"),
    ("no_secret_shown", "Common.ps1", "[Console]::Out.WriteLine($parameter.Value)\n", "a secret on the console"),
    ("functions_used", "Common.ps1", "function Get-Thing { }\n", "Get-Thing is used by nothing"),
    ("variables_set", "Common.ps1", "Start-Sleep -Seconds $seconds\n", "$seconds is not set"),
    ("variables_set", "Common.ps1", "function Get-It { $a = 1 }\nfunction Get-That { $b = $a }\n", "$a is not set"),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_scripts_keep_the_rule(rule: str, scripts: Bundle) -> None:
    """Every script keeps every rule."""
    assert list(RULES[rule](scripts)) == []


@pytest.mark.parametrize(
    ("rule", "name", "text", "said"), BROKEN, ids=[f"{row[0]}-{i}" for i, row in enumerate(BROKEN)]
)
def test_a_rule_finds_what_breaks_it(rule: str, name: str, text: str, said: str) -> None:
    """Each rule finds a script that breaks it, says where, and what."""
    found = list(RULES[rule](bundle_of({name: HEAD + text})))
    assert any(said in problem and problem.startswith(name) for problem in found), found


def test_strict_mode_comes_first() -> None:
    """Neither strict mode nor the end at errors may come later than anything else, or be missing."""
    for text in ("$x = 1\n" + HEAD, "Set-StrictMode -Version 3.0\n", "Set-StrictMode -Version 1.0\n" + HEAD):
        assert list(RULES["strict_first"](bundle_of({"Common.ps1": text}))), text


def test_a_script_takes_in_what_it_calls() -> None:
    """A function of a file that is not taken in would be missing only when it is called, on the node."""
    scripts = {
        "Run.ps1": HEAD + '. "$PSScriptRoot\\One.ps1"\nGet-One\n',
        "One.ps1": HEAD + "function Get-One { Get-Two }\n",
        "Two.ps1": HEAD + "function Get-Two { }\n",
    }
    found = list(RULES["functions_at_hand"](bundle_of(scripts)))
    assert found == ["Run.ps1: Get-Two is in Two.ps1, which it does not take in"]


def test_a_name_is_given_once() -> None:
    """Of two functions of one name the later file would win."""
    scripts = {"One.ps1": HEAD + "function Get-It { }\n", "Two.ps1": HEAD + "function Get-It { }\n"}
    assert "Get-It is also in One.ps1" in "".join(RULES["approved_names"](bundle_of(scripts)))


def test_every_rule_is_broken_by_a_test() -> None:
    """A rule that nothing can break would hold nothing."""
    own = {"strict_first", "functions_at_hand"}
    assert {row[0] for row in BROKEN} | own == set(RULES)


def test_lists_hold_nothing_that_is_not_used(scripts: Bundle) -> None:
    """What scripts may use is what they do use: the list is no wish list."""
    called = {name for script in scripts.values() for _, name in script.calls()}
    text = "".join(script.text for script in scripts.values())
    assert set(CMDLETS) <= called
    assert set(NETWORK) - called - PROGRAMS == set()
    assert {name for name in PROGRAMS if name not in text} == set()
    assert "env" not in AUTOMATIC


def test_parameters_of_the_list_are_used(scripts: Bundle) -> None:
    """The list of a cmdlet's parameters has no other than those that are given."""
    given: dict[str, set[str]] = {name: set() for name in CMDLETS}
    for script in scripts.values():
        for node, name in script.calls():
            if name in given:
                given[name] |= set(script.parameters(node))
    assert {name: set(parameters.split()) for name, parameters in CMDLETS.items()} == given


def test_the_bundle_has_all_but_the_loader(scripts: Bundle) -> None:
    """The loader stands in user data; everything else is in the bundle, its entry among it."""
    assert set(script_names()) == set(scripts) - {LOADER}
    assert ENTRY in script_names()
    assert f"\\{ENTRY}" in scripts[LOADER].text


def test_scripts_and_python_agree_on_the_state_folder(scripts: Bundle) -> None:
    """The one path that loader and scripts know by themselves is the one that Python protects and excludes."""
    for name in ("Common.ps1", LOADER):
        assert f"'{paths.STATE}'" in scripts[name].text
    assert paths.STATE in paths.PROTECTED_DIRECTORIES


def test_placeholders_are_filled_in(scripts: Bundle) -> None:
    """Every placeholder of the document is replaced by the scripts, and no other is."""
    from winkube.windows_boot.windows_node_document import PLACEHOLDERS

    text = "".join(script.text for script in scripts.values())
    written = {word.partition("}")[0] for word in text.split(".Replace('${")[1:]}
    assert {f"${{{word}}}" for word in written} == set(PLACEHOLDERS)


def test_calls_name_the_file_of_a_program() -> None:
    """The name of an invoked program is its file, whatever the path in front of it."""
    script = Script("a.ps1", '& "$System32\\curl.exe" x\n')
    assert [name for _, name in script.calls()] == ["curl.exe"]
