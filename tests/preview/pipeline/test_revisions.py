"""Evaluating two revisions and two stacks: what is compared, and what happens when something is wrong."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from textwrap import dedent

import pulumi
import pulumi_aws as aws
import pytest
from winkube.preview.comparison.difference import Difference
from winkube.preview.errors import PreviewError
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.output.plan_formats import to_json
from winkube.preview.pipeline.revisions import Evaluation, compare_revisions, compare_stacks
from winkube.preview.pipeline.wire import pack, unpack

from ..programs import write_program

pytestmark = pytest.mark.verify

PROGRAM = "import pulumi_aws as aws\naws.sqs.Queue('q', delay_seconds={delay})\n"


class Repository:
    """A git repository with a small program in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *arguments], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.folder / name.replace("__", ".", 1) if name.startswith("Pulumi") else self.folder / f"{name}.py"
            path.write_text(dedent(text))

    def program(self, text: str, stack: str = "config: {}\n") -> None:
        write_program(self.folder, text, stack)

    def commit(self, message: str = "x") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)

    def diff(self, base: str = "HEAD", head: str | None = None, *stacks: str, seconds: float = 60) -> list[Difference]:
        found = compare_revisions(self.folder, base, head, stacks, Evaluation(timeout_seconds=seconds))
        self.check_clean()
        return found

    def one(self, base: str = "HEAD", head: str | None = None, *stacks: str) -> Difference:
        (found,) = self.diff(base, head, *stacks)
        return found

    def fails(self, base: str = "HEAD", head: str | None = None, *stacks: str, seconds: float = 60) -> str:
        with pytest.raises(PreviewError) as caught:
            compare_revisions(self.folder, base, head, stacks, Evaluation(timeout_seconds=seconds))
        self.check_clean()
        return str(caught.value)

    def check_clean(self) -> None:
        """No worktree is left, in git's books or on disk."""
        assert len(self.git("worktree", "list").splitlines()) == 1
        assert list(Path(tempfile.gettempdir()).glob("winkube-diff-*")) == []


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    folder = tmp_path / "repository"
    folder.mkdir()
    made = Repository(folder)
    made.program(PROGRAM.format(delay=1))
    made.commit("first")
    return made


class TestWhatIsCompared:
    def test_the_working_tree_against_a_revision(self, repository: Repository) -> None:
        """Changes that are not committed are part of the head, and that is said."""
        repository.program(PROGRAM.format(delay=2))
        difference = repository.one("main")
        (item,) = difference.changed
        assert [(change.path, change.before, change.after) for change in item.changes] == [("delaySeconds", 1, 2)]
        assert item.source == "__main__.py:2"
        assert (difference.base.label, difference.head.label) == ("main", "working tree")
        assert difference.notes == ["the working tree has uncommitted changes (1 file); the comparison includes them"]

    def test_two_revisions(self, repository: Repository) -> None:
        repository.program(PROGRAM.format(delay=2))
        repository.commit()
        repository.program("this is not looked at")
        assert [item.name for item in repository.one("HEAD~1", "HEAD").changed] == ["q"]
        assert repository.one("HEAD", "HEAD").empty

    def test_modules_of_the_program_come_from_their_own_side(self, repository: Repository) -> None:
        repository.write(sizes="DELAY = 1\n")
        repository.program(
            "import pulumi_aws as aws\nfrom sizes import DELAY\naws.sqs.Queue('q', delay_seconds=DELAY)\n"
        )
        repository.commit()
        repository.write(sizes="DELAY = 2\n")
        assert repository.one().changed[0].changes[0].path == "delaySeconds"

    def test_a_change_of_settings_shows(self, repository: Repository) -> None:
        text = (
            "import pulumi, pulumi_aws as aws\naws.sqs.Queue('q', delay_seconds=pulumi.Config().require_int('delay'))\n"
        )
        repository.program(text, "config:\n  demo:delay: 1\n")
        repository.commit()
        repository.program(text, "config:\n  demo:delay: 2\n")
        assert repository.one().changed[0].changes[0].path == "delaySeconds"

    def test_files_are_read_from_their_own_side_and_paths_do_not_differ(self, repository: Repository) -> None:
        """The program runs in its own folder; a path into the checkout is no difference, the file's content is."""
        text = """
            from pathlib import Path
            import pulumi, pulumi_aws as aws
            here = Path(__file__).resolve().parent
            aws.sqs.Queue("q", delay_seconds=int(Path("delay.txt").read_text()), tags={"path": str(here / "x")})
            aws.s3.BucketObjectv2("o", bucket="b", key="k", source=pulumi.FileAsset("delay.txt"))
        """
        repository.program(text)
        (repository.folder / "delay.txt").write_text("1")
        repository.commit()
        assert repository.one().empty
        (repository.folder / "delay.txt").write_text("2")
        changes = {item.name: [change.path for change in item.changes] for item in repository.one().changed}
        assert changes == {"o": ["source.content"], "q": ["delaySeconds"]}

    def test_a_program_in_a_folder_of_the_repository(self, repository: Repository) -> None:
        """Code beside the program's folder is named from there."""
        (repository.folder / "lib").mkdir()
        (repository.folder / "lib" / "queues.py").write_text(
            "import pulumi_aws as aws\ndef make(delay):\n    aws.sqs.Queue('q', delay_seconds=delay)\n"
        )
        inside = repository.folder / "infra"
        inside.mkdir()
        write_program(inside, "import sys\nsys.path.append('../lib')\nimport queues\nqueues.make(1)\n")
        repository.commit()
        write_program(inside, "import sys\nsys.path.append('../lib')\nimport queues\nqueues.make(2)\n")
        (difference,) = compare_revisions(inside, "HEAD", None)
        assert difference.changed[0].source == "../lib/queues.py:3"

    def test_every_stack_of_either_side(self, repository: Repository) -> None:
        """A stack on one side only is compared with nothing, and that is said."""
        (repository.folder / "Pulumi.dev.yaml").rename(repository.folder / "Pulumi.prod.yaml")
        gone, new = repository.diff()
        assert [item.name for item in gone.removed] == ["q"]
        assert gone.notes[-1] == 'the stack "dev" does not exist in working tree: all its resources are removed'
        assert (gone.base.present, gone.head.present) == (True, False)
        assert [item.name for item in new.added] == ["q"]
        assert new.notes[-1] == 'the stack "prod" does not exist in HEAD: all its resources are added'

    def test_a_program_that_is_new(self, repository: Repository) -> None:
        inside = repository.folder / "new"
        inside.mkdir()
        write_program(inside, PROGRAM.format(delay=1))
        (difference,) = compare_revisions(inside, "HEAD", None)
        assert [item.name for item in difference.added] == ["q"]

    def test_two_stacks_of_one_tree(self, repository: Repository) -> None:
        text = (
            "import pulumi, pulumi_aws as aws\naws.sqs.Queue('q', delay_seconds=pulumi.Config().require_int('delay'))\n"
        )
        repository.program(text, "config:\n  demo:delay: 1\n")
        (repository.folder / "Pulumi.prod.yaml").write_text("config:\n  demo:delay: 5\n")
        difference = compare_stacks(repository.folder, "dev", "prod")
        assert [(change.before, change.after) for change in difference.changed[0].changes] == [(1, 5)]
        assert (difference.base.label, difference.head.label) == ("stack dev", "stack prod")

    def test_two_stacks_need_no_repository(self, tmp_path: Path) -> None:
        write_program(tmp_path, PROGRAM.format(delay=1))
        (tmp_path / "Pulumi.prod.yaml").write_text("config: {}\n")
        assert compare_stacks(tmp_path, "dev", "prod").empty

    def test_policies_of_today_judge_both_sides(self, repository: Repository, tmp_path: Path) -> None:
        pack = tmp_path / "pack"
        pack.mkdir()
        (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
        (pack / "__main__.py").write_text(
            dedent("""
            from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy
            def check(args, report):
                if args.props.get("delaySeconds") == 2:
                    report("too slow")
            PolicyPack("p", [ResourceValidationPolicy("slow", "d", check)], EnforcementLevel.MANDATORY)
            """)
        )
        repository.program(PROGRAM.format(delay=2))
        (difference,) = compare_revisions(repository.folder, "HEAD", None, (), Evaluation(policies=pack))
        assert [(item.code, item.message) for item in difference.new_findings] == [("policy/p/slow", "too slow")]
        assert difference.gone_findings == []


class TestTheLibraryItself:
    """Where the repository is winkube, each side has its own components, and today's evaluator."""

    @pytest.fixture
    def library(self, repository: Repository) -> Repository:
        (repository.folder / "pyproject.toml").write_text('[project]\nname = "winkube"\n')
        for name in ("components", "components/queues", "preview"):
            (repository.folder / name).mkdir()
            (repository.folder / name / "__init__.py").write_text('"""A room."""\n')
        # Broken on purpose: the evaluator must be the installed one, not the checkout's.
        evaluator = repository.folder / "preview" / "evaluation" / "evaluate.py"
        evaluator.parent.mkdir(exist_ok=True)
        evaluator.write_text("raise RuntimeError('not this one')\n")
        self.component(repository, 1)
        repository.program("from winkube.queues.queue import make\nmake()\n")
        repository.commit()
        return repository

    @staticmethod
    def component(repository: Repository, delay: int) -> None:
        (repository.folder / "components" / "queues" / "queue.py").write_text(
            f"import pulumi_aws as aws\nfrom .. import __doc__ as room\n\n"
            f"def make():\n    aws.sqs.Queue('q', delay_seconds={delay}, tags={{'room': room}})\n"
        )

    def test_a_change_in_a_component_shows(self, library: Repository) -> None:
        self.component(library, 2)
        library.commit()
        (item,) = library.one("HEAD~1", "HEAD").changed
        assert [(change.path, change.before, change.after) for change in item.changes] == [("delaySeconds", 1, 2)]
        assert library.one("HEAD", "HEAD").empty

    def test_a_component_in_the_working_tree_shows(self, library: Repository) -> None:
        self.component(library, 3)
        (item,) = library.one().changed
        assert item.changes[0].after == 3

    def test_a_component_that_a_revision_lacks(self, library: Repository) -> None:
        """It does not come from elsewhere: that side's own message is shown."""
        (library.folder / "components" / "queues" / "queue.py").unlink()
        assert "No module named 'winkube.queues.queue'" in library.fails()


class TestWhatGoesWrong:
    def test_a_revision_that_does_not_exist(self, repository: Repository) -> None:
        assert repository.fails("mian") == 'there is no revision "mian" in this repository. Did you mean "main"?'

    def test_a_branch_that_only_the_remote_has(self, repository: Repository, tmp_path: Path) -> None:
        """As in a check-out of a pull request."""
        repository.git("branch", "release")
        clone = tmp_path / "clone"
        repository.git("clone", "--quiet", str(repository.folder), str(clone))
        with pytest.raises(PreviewError, match='Did you mean "origin/release"'):
            compare_revisions(clone, "release", None)

    def test_a_shallow_clone(self, repository: Repository, tmp_path: Path) -> None:
        repository.commit("second")
        clone = tmp_path / "clone"
        repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.folder}", str(clone))
        with pytest.raises(PreviewError) as caught:
            compare_revisions(clone, "HEAD~1", None)
        assert "git fetch --unshallow" in str(caught.value)
        assert "fetch-depth: 0" in str(caught.value)

    def test_no_repository(self, tmp_path: Path) -> None:
        write_program(tmp_path, PROGRAM.format(delay=1))
        with pytest.raises(PreviewError, match="is not in a git repository"):
            compare_revisions(tmp_path, "main", None)

    def test_a_stack_that_is_nowhere(self, repository: Repository) -> None:
        assert repository.fails("HEAD", None, "dve") == (
            'there is no stack "dve" on either side; stacks: dev. Did you mean "dev"?'
        )

    def test_no_stack_at_all(self, repository: Repository) -> None:
        repository.git("rm", "--quiet", "Pulumi.dev.yaml")
        repository.commit()
        assert repository.fails().startswith("there is no stack to compare")

    def test_a_base_that_does_not_evaluate(self, repository: Repository) -> None:
        """Its own message and line, and which side it is."""
        repository.program("raise ValueError('not ready')\n")
        repository.commit()
        repository.program(PROGRAM.format(delay=1))
        commit = repository.git("rev-parse", "HEAD").strip()[:10]
        assert repository.fails() == (
            f'HEAD ({commit}), stack "dev": ValueError: not ready\n  at __main__.py:1 in <module>\n'
            "    raise ValueError('not ready')"
        )

    def test_both_sides_are_named(self, repository: Repository) -> None:
        repository.program("raise ValueError('one')\n")
        repository.commit()
        repository.program("raise ValueError('two')\n")
        text = repository.fails()
        assert "ValueError: one" in text
        assert 'working tree, stack "dev": ValueError: two' in text

    def test_a_missing_file_is_named_without_the_temporary_folder(self, repository: Repository) -> None:
        repository.program("from pathlib import Path\n(Path(__file__).parent / 'no.txt').read_text()\n")
        repository.commit()
        repository.program(PROGRAM.format(delay=1))
        text = repository.fails()
        assert "No such file or directory: 'no.txt'" in text

    @pytest.mark.parametrize("text", ["import time\ntime.sleep(600)\n", "while True: print('x' * 1000)\n"])
    def test_a_program_that_never_ends(self, repository: Repository, text: str) -> None:
        """It is stopped, also when it writes without end."""
        repository.program(text)
        began = time.monotonic()
        text = repository.fails("HEAD", seconds=4)
        assert 'working tree, stack "dev": the program was stopped after 4 seconds' in text
        assert time.monotonic() - began < 30

    def test_a_program_that_writes_to_standard_output(
        self, repository: Repository, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Also past Python: it mixes with nothing."""
        noisy = "import os, subprocess\nprint('{}')\nos.write(1, b'raw')\nsubprocess.run(['echo', 'child'])\n"
        repository.program(noisy + PROGRAM.format(delay=2))
        assert [item.name for item in repository.one().changed] == ["q"]
        assert capfd.readouterr().out == ""

    def test_a_program_that_exits(self, repository: Repository) -> None:
        repository.program("import sys\nsys.exit(3)\n")
        assert "the program ended with exit code 3" in repository.fails()

    def test_a_program_that_ends_its_process(self, repository: Repository) -> None:
        repository.program("import os, sys\nprint('before the end', file=sys.stderr, flush=True)\nos._exit(5)\n")
        text = repository.fails()
        assert (
            "the program ended its process with exit code 5 before the evaluation was complete\n  before the end"
            in text
        )

    def test_a_program_that_asks(self, repository: Repository) -> None:
        repository.program("input('name? ')\n")
        assert "EOFError" in repository.fails()

    def test_a_process_that_the_program_leaves_behind_is_ended(self, repository: Repository, tmp_path: Path) -> None:
        left = "import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        repository.program(f"{left}open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid))\n{PROGRAM.format(delay=2)}")
        repository.one()
        pid = int((tmp_path / "pid").read_text())
        for _ in range(100):
            state = Path(f"/proc/{pid}/stat")
            if not state.exists() or " Z " in state.read_text():
                break
            time.sleep(0.05)
        else:
            pytest.fail("the process is still there")

    def test_hooks_of_the_repository_do_not_run(self, repository: Repository, tmp_path: Path) -> None:
        hook = repository.folder / ".git" / "hooks" / "post-checkout"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
        repository.one()
        assert not (tmp_path / "ran").exists()

    def test_inside_a_hook(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        """git ties the environment of a hook to its own index; the comparison is not misled."""
        monkeypatch.setenv("GIT_INDEX_FILE", str(repository.folder / ".git" / "other-index"))
        monkeypatch.setenv("GIT_DIR", str(repository.folder / "nowhere"))
        found = compare_revisions(repository.folder, "HEAD", None)
        assert found[0].empty

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_an_interrupted_comparison_leaves_nothing(
        self, repository: Repository, number: signal.Signals, tmp_path: Path
    ) -> None:
        repository.program(f"open({str(tmp_path / 'begun')!r}, 'w').close()\nimport time\ntime.sleep(600)\n")
        # What runs the tests in the background may have interrupts ignored, which children inherit.
        code = (
            "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "from pathlib import Path\nfrom winkube.preview.pipeline.revisions import compare_revisions\n"
            f"compare_revisions(Path({str(repository.folder)!r}), 'HEAD', None)"
        )
        process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
        for _ in range(600):
            if (tmp_path / "begun").exists():
                break
            time.sleep(0.05)
        os.kill(process.pid, number)
        assert process.wait(30) != 0
        repository.check_clean()


class TestTheWayBack:
    def test_a_plan_survives(self) -> None:
        """Unknown values, secrets, references, options, findings: all arrive as they left."""

        def build() -> None:
            vpc = aws.ec2.Vpc("v", cidr_block="10.0.0.0/16", tags={"s": pulumi.Output.secret("x"), "u": "ü"})
            options = pulumi.ResourceOptions(
                protect=True, ignore_changes=["tags"], aliases=[pulumi.Alias(name="old")], depends_on=[vpc]
            )
            aws.ec2.Subnet("s", vpc_id=vpc.id, cidr_block="10.0.0.0/24", opts=options)
            pulumi.export("out", {"id": vpc.id, "secret": pulumi.Output.secret(1), "list": [None, True]})
            aws.ssm.get_parameter_output(name="a")

        plan = evaluate_function(build)
        again = unpack(pack(plan))
        assert to_json(again) == to_json(plan)
        assert again.outputs == plan.outputs
        assert [resource.options for resource in again.resources] == [resource.options for resource in plan.resources]
        assert again.resources[0].inputs == plan.resources[0].inputs
        assert again.invokes == plan.invokes
