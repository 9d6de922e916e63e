import { expect, it } from "vitest";
import { renderScript } from "./render-script.ts";
import { TemplateError } from "./template-error.ts";

it.each(["(", " (", "'", '"', "`${", "f('a')", "{{", "//\n", "exec_cmd("])(
  "lexes a script that repeats %j in linear time",
  (piece) => {
    const started = process.cpuUsage().user;
    try {
      renderScript(piece.repeat(65_536 / piece.length), {});
    } catch (error) {
      expect(error).toBeInstanceOf(TemplateError);
    }
    expect(process.cpuUsage().user - started).toBeLessThan(1_000_000);
  },
);

it.each([
  "log(1)//it\nexec_cmd('echo {{v}}')",
  "x//it\nbash('{{v}}')",
  "exec_cmd   \n  (  '{{v}}')",
  "bash/**/('{{v}}')",
])("recognizes a shell call after white space and comments: %j", (source) => {
  expect(Object.values(renderScript(source, { v: "$(id)" }).variables)).toEqual([
    expect.stringContaining("export W1='$(id)'"),
  ]);
});
