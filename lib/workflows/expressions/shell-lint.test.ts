import { expect, it } from "vitest";
import { lintShell } from "./shell-lint.ts";

it.each([
  ["jq '.[\"{{v}}\"]' f", ["inner-program@7"]],
  ["echo $(( {{v}} ))", ["arithmetic@9"]],
  ["echo ${x:-{{v}}}", ["expansion@10"]],
  ["{{v|raw}} {{v}} $(( {{v}} ))", ["raw@0", "arithmetic@20"]],
])("warns of %j", (source, expected) => {
  expect(lintShell(source).warnings.map(({ rule, offset }) => `${rule}@${offset}`)).toEqual(expected);
});

it.each([
  "printf '%s' {{v}} '{{v}}' \"{{v}}\" # bash -c {{v}}",
  "cat <<'E'\n{{v}}\nE",
  "bash -c 'echo {{v|shell}}'",
  "bash -c 'echo \"$1\"' _ {{v}}",
  "bash script.sh {{v}}",
  "awk -v x={{v}} '{print x}' {{v}}",
  "awk -F, '{print $1}' \"{{v}}/f\"",
  "jq --arg x {{v}} '.[$x]' {{v}}",
  "{{v}} -silent",
])("reports nothing for %j", (source) => {
  expect(lintShell(source)).toEqual({ warnings: [], errors: [] });
});
