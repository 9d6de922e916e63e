"""Prints how many CloudFormation resources SAM makes of each template named, as a JSON object."""

import json
import sys

import yaml
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator


def count(path):
    with open(path, encoding="utf-8") as file:
        template = yaml.safe_load(file)
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        # SAM takes what is uploaded; what lies there is nothing to the count.
        if "CodeUri" in properties:
            properties["CodeUri"] = "s3://bucket/key"
        if resource["Type"] == "AWS::Serverless::Application":
            properties["Location"] = "https://bucket.s3.amazonaws.com/key"
    parameters = {name: value.get("Default", "value") for name, value in template.get("Parameters", {}).items()}
    return len(Translator({}, Parser()).translate(template, parameters)["Resources"])


print(json.dumps({path: count(path) for path in sys.argv[1:]}))
