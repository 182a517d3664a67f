"""Reading a project and its stack files."""

from pathlib import Path

import pytest
from winkube.preview.errors import PreviewError
from winkube.preview.evaluation.project import read_configuration, read_project
from winkube.preview.model import UNKNOWN_TEXT

from ..programs import write_program


@pytest.mark.parametrize(
    ("project", "words"),
    [
        ("runtime: python\n", "name is missing"),
        ("name: demo\nruntime: nodejs\n", "the runtime must be python, got 'nodejs'"),
        ("name: demo\nruntime: python\nmain: nowhere\n", "nowhere, which does not exist"),
        ("name: [", "Pulumi.yaml is not valid YAML"),
        ("- a\n", "must hold a mapping, got list"),
    ],
)
def test_a_wrong_project_file_is_refused_in_words(tmp_path: Path, project: str, words: str) -> None:
    write_program(tmp_path, "", project=project)
    with pytest.raises(PreviewError, match=r".") as caught:
        read_project(tmp_path)
    assert words in str(caught.value)


def test_a_folder_without_a_project_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(PreviewError, match=r"no Pulumi\.yaml; give the folder of a Pulumi program with --program"):
        read_project(tmp_path)


def test_an_unknown_stack_lists_those_that_exist(tmp_path: Path) -> None:
    """A mistyped stack is answered with the list and the nearest one."""
    write_program(tmp_path, "")
    (tmp_path / "Pulumi.prod.yaml").write_text("config: {}\n")
    with pytest.raises(PreviewError) as caught:
        read_configuration(read_project(tmp_path), "prd")
    assert str(caught.value) == (
        'there is no stack "prd": Pulumi.prd.yaml does not exist; the stacks are dev, prod. Did you mean "prod"?'
    )


def test_the_stack_files_may_lie_elsewhere(tmp_path: Path) -> None:
    write_program(tmp_path, "", project="name: demo\nruntime: python\nstackConfigDir: stacks\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.qa.yaml").write_text("config: {demo:a: 1}\n")
    project = read_project(tmp_path)
    assert project.stacks() == ["qa"]
    assert read_configuration(project, "qa").values == {"demo:a": "1"}


DECLARED = """
name: demo
runtime: python
config:
  size: {type: integer}
  flag: {type: boolean, default: false}
  zones: {type: array, items: {type: string}, default: [a]}
  token: {type: string, secret: true, default: x}
  aws:region: {value: eu-central-1}
"""


def test_declared_defaults_are_merged_in(tmp_path: Path) -> None:
    write_program(tmp_path, "", stack="config: {demo:size: 3}", project=DECLARED)
    assert read_configuration(read_project(tmp_path), "dev").values == {
        "demo:size": "3", "demo:flag": "false", "demo:zones": '["a"]', "demo:token": "x",
        "aws:region": "eu-central-1",
    }  # fmt: skip


def test_all_that_does_not_fit_the_declaration_is_said_at_once(tmp_path: Path) -> None:
    write_program(tmp_path, "", stack="config: {demo:flag: maybe, demo:zones: a}", project=DECLARED)
    with pytest.raises(PreviewError) as caught:
        read_configuration(read_project(tmp_path), "dev")
    assert str(caught.value).splitlines() == [
        "Pulumi.dev.yaml does not match the declarations in Pulumi.yaml:",
        "  demo:size: is required (integer) and has no default; set it with `config: demo:size: …`",
        '  demo:flag: must be boolean, got "maybe"',
        '  demo:zones: must be array, got "a"',
    ]


def test_scalars_that_the_cli_wrote_as_text_fit(tmp_path: Path) -> None:
    write_program(tmp_path, "", stack='config: {demo:size: "3", demo:flag: "true"}', project=DECLARED)
    assert read_configuration(read_project(tmp_path), "dev").values["demo:size"] == "3"


def test_encrypted_values_are_unknown_secrets_at_any_depth(tmp_path: Path) -> None:
    write_program(tmp_path, "", stack="config: {demo:a: {secure: v1:x}, demo:b: {c: [{secure: v1:y}, 1]}}")
    configuration = read_configuration(read_project(tmp_path), "dev")
    assert configuration.secret_keys == {"demo:a", "demo:b"}
    assert configuration.unknown_keys == {"demo:a"}
    assert configuration.values["demo:b"] == f'{{"c": ["{UNKNOWN_TEXT}", 1]}}'


def test_a_declared_secret_in_plain_text_is_refused(tmp_path: Path) -> None:
    project = "name: demo\nruntime: python\nconfig: {token: {type: string, secret: true}}\n"
    write_program(tmp_path, "", stack="config: {demo:token: abc}", project=project)
    with pytest.raises(PreviewError, match=r"pulumi config set --secret demo:token"):
        read_configuration(read_project(tmp_path), "dev")
