"""Prints, as one JSON object by file, what SAM makes of each template named and which of its properties SAM ignores."""

import copy
import json
import os
import sys

import yaml
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

# SAM asks for a region to name what differs between partitions; nothing is called there.
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")


# Of one property that are tried, such as the two modes of transfer or the paths of routes.
VALUES_MAX = 8


def read(path):
    with open(path, encoding="utf-8") as file:
        template = yaml.safe_load(file)
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        # SAM takes the addresses of uploaded files in place of local folders.
        if "CodeUri" in properties:
            properties["CodeUri"] = "s3://bucket/key"
        if resource["Type"] == "AWS::Serverless::Application":
            properties["Location"] = "https://bucket.s3.amazonaws.com/key"
    return template


def expand(template):
    parameters = {name: value.get("Default", "value") for name, value in template.get("Parameters", {}).items()}
    # The translator changes the template that it is given.
    return Translator({}, Parser()).translate(copy.deepcopy(template), parameters)


def leaves(value, path=()):
    """Paths of all values that are neither objects nor lists of objects; an intrinsic function is one value."""
    if isinstance(value, dict) and value and not any(key == "Ref" or key.startswith("Fn::") for key in value):
        for key, child in value.items():
            yield from leaves(child, (*path, key))
    else:
        yield path, value


def without(template, path):
    copied = copy.deepcopy(template)
    *parents, last = path
    place = copied
    for key in parents:
        place = place[key]
    del place[last]
    return copied


def ignored(template):
    """Properties of SAM's own resources whose removal changes nothing in the expanded template."""
    resources = template["Resources"]
    apis = {name: one for name, one in resources.items() if one["Type"] == "AWS::Serverless::Api"}
    found = set()
    seen = {}
    for name, resource in resources.items():
        if not resource["Type"].startswith("AWS::Serverless::"):
            continue
        # A small template of this resource alone: the whole one takes seconds to expand.
        small = {**template, "Resources": {**apis, name: resource}, "Outputs": {}}
        whole = None
        paths = [("Resources", name, "Properties", *path) for path, _ in leaves(resource.get("Properties", {}))]
        if resource["Type"] == "AWS::Serverless::Function" and "Globals" in template:
            paths += [("Globals", *path) for path, _ in leaves(template["Globals"])]
        for path in paths:
            value = small
            for key in path:
                value = value[key]
            shown = path[2:] if path[0] == "Resources" else path
            # Resources have many properties in common: each value of a property is tried once, a few values at most.
            values = seen.setdefault((resource["Type"], shown), set())
            text = json.dumps(value, sort_keys=True)
            overridden = path[0] == "Globals" and path[2] in resource.get("Properties", {})
            if text in values or len(values) >= VALUES_MAX or overridden:
                continue
            values.add(text)
            whole = whole or expand(small)
            try:
                changed = expand(without(small, path)) != whole
            except Exception:  # SAM raises errors of several kinds if a required property is missing.
                changed = True
            if not changed:
                found.add(f"{'' if path[0] == 'Globals' else name + ': '}{'.'.join(shown)} {json.dumps(value)}")
    return sorted(found)


def result(path):
    template = read(path)
    return {"template": expand(template), "ignored": ignored(template)}


print(json.dumps({path: result(path) for path in sys.argv[1:]}))
