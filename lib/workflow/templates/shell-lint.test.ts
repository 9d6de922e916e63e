import { expect, it } from "vitest";
import { lintShell } from "./shell-lint.ts";

it.each([
  ['bash -c "echo {{v}}"', ["inner-program@14"]],
  ["timeout 5 sh -c 'echo {{v}}'", ["inner-program@22"]],
  ["find . -exec sh -c 'x {{v}}' \\;", ["inner-program@22"]],
  ['x="$(bash -lc "{{v}}")"', ["inner-program@15"]],
  ["eval echo {{v}}", ["inner-program@10"]],
  ["awk '{print \"{{v}}\"}' f", ["inner-program@13"]],
  ["sed -n -e 's/{{v}}//' {{v}}", ["inner-program@13"]],
  ["jq '.[\"{{v}}\"]' f", ["inner-program@7"]],
  ["python3 -c 'print(\"{{v}}\")' {{v}}", ["inner-program@19"]],
  ["ssh -p 22 u@{{v}} 'ls {{v}}'", ["inner-program@22"]],
  ["echo $(( {{v}} ))", ["arithmetic@9"]],
  ["echo ${x:-{{v}}}", ["expansion@10"]],
  ["cat <<'E'\n{{v}}\nE", ["quoted-heredoc@10"]],
  ["{{v|raw}} {{v}} $(( {{v}} ))", ["raw@0", "arithmetic@20"]],
])("warns of %j", (source, expected) => {
  expect(lintShell(source).map(({ rule, offset }) => `${rule}@${offset}`)).toEqual(expected);
});

it.each([
  "printf '%s' {{v}} '{{v}}' \"{{v}}\" # bash -c {{v}}",
  "bash -c 'echo {{v|shell}}'",
  "bash -c 'echo \"$1\"' _ {{v}}",
  "bash script.sh {{v}}",
  "awk -v x={{v}} '{print x}' {{v}}",
  "awk -F, '{print $1}' \"{{v}}/f\"",
  "jq --arg x {{v}} '.[$x]' {{v}}",
  "{{v}} -silent",
])("finds nothing in %j", (source) => {
  expect(lintShell(source)).toEqual([]);
});

it("does not warn of names that the caller vouches for", () => {
  expect(lintShell('bash -c "{{own}} {{v}}"', { trusted: (root) => root === "own" })).toHaveLength(1);
});
