"""The stubs, the documentation and the entry point describe the module."""

import ast
import doctest
import inspect
import tomllib
from pathlib import Path

import pairwave

FOLDER = Path(__file__).parents[1]


def stubs():
    """Returns the names of the stub file, with the parameters of functions."""
    found = {}
    for item in ast.parse((FOLDER / "python/pairwave/__init__.pyi").read_text()).body:
        if isinstance(item, ast.FunctionDef):
            names = [argument.arg for argument in item.args.args + item.args.kwonlyargs]
            assert found.setdefault(item.name, names) == names, item.name
        elif isinstance(item, ast.ClassDef):
            found[item.name] = [part.target.id for part in item.body if isinstance(part, ast.AnnAssign)]
        elif isinstance(item, ast.AnnAssign):
            found[item.target.id] = None
    return {name: names for name, names in found.items() if not name.startswith("_") or name == "__version__"}


def test_stubs_name_every_argument_and_attribute():
    found = stubs()
    assert sorted(found) == sorted(pairwave.__all__)
    for name, names in found.items():
        item = getattr(pairwave, name)
        if inspect.isclass(item):
            assert all(hasattr(item, attribute) for attribute in names), name
        elif callable(item):
            assert list(inspect.signature(item).parameters) == names, name


def test_documentation_names_every_argument():
    for name in pairwave.__all__:
        item = getattr(pairwave, name)
        if callable(item):
            assert item.__doc__, name
            if not inspect.isclass(item):
                missing = [word for word in inspect.signature(item).parameters if word not in item.__doc__]
                assert not missing, (name, missing)


def test_entry_point_and_version():
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["pairwave"].split(":")
    assert module == "pairwave" and getattr(pairwave, function) is pairwave.main
    package = tomllib.loads((FOLDER / "../../Cargo.toml").read_text())["package"]
    assert pairwave.__version__ == package["version"]


def test_examples_of_the_pages_are_correct(monkeypatch):
    root = FOLDER / "../.."
    monkeypatch.chdir(root)
    runner = doctest.DocTestRunner()
    examples = 0
    for page in ("docs/python.md", "README.md", "bindings/python/README.md"):
        names = {"pairwave": pairwave}
        for block in (root / page).read_text().split("```python\n")[1:]:
            test = doctest.DocTestParser().get_doctest(block.split("```")[0], names, page, page, 0)
            runner.run(test, clear_globs=False)
            names = test.globs
            examples += len(test.examples)
    assert runner.failures == 0 and examples > 10
