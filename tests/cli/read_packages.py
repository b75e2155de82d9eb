"""Prints a conda recipe and a workflow as one JSON list. Arguments: the recipe, which is a template of Jinja, and the workflow."""

import json
import sys

import jinja2
import yaml

recipe, workflow = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
# The functions that conda-build defines.
functions = {
    "compiler": lambda language: f"{language}_compiler",
    "pin_subpackage": lambda name, max_pin: f"{name} {max_pin}",
}
template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(recipe)
print(json.dumps([yaml.safe_load(template.render(functions)), yaml.safe_load(workflow)]))
