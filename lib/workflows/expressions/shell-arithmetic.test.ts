import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { renderShell } from "./render-shell.ts";
import { TemplateError } from "./template-error.ts";

/** Bash runs the command in this text wherever it evaluates the text as arithmetic or as a variable name. */
const SUBSCRIPT = "a[$(touch pwned)]";

const REFUSED = [
  "echo $(( {{v}} + 1 ))",
  'echo "$(( {{v}} ))"',
  'echo $(( "{{v}}" ))',
  "echo $[{{v}}]",
  "((x={{v}}))",
  "for ((i={{v}};0;)); do :; done",
  "cat <<E\n$(( {{v}} ))\nE",
  "x=`echo $(( {{v}} ))`",
  "a[{{v}}]=1",
  'a["{{v}}"]=1',
  "a=([{{v}}]=1)",
  "read -r a[{{v}}] <<< 1",
  "echo ${a[{{v}}]}",
  'echo "${a["{{v}}"]}"',
  "echo ${x:{{v}}}",
  "echo ${x:0:{{v}}}",
  "echo ${!{{v}}}",
  "[[ {{v}} -eq 1 ]]",
  '[[ "{{v}}" -eq 1 ]]',
  "[[ a == b || ( 1 -lt {{v}} ) ]]",
  "[[ -v {{v}} ]]",
  "[ -v {{v}} ]",
  "test -v '{{v}}'",
  "printf -v {{v}} x",
  "let x={{v}}",
  'let "x={{v}}"',
  "declare {{v}}=1",
  "f(){ local '{{v}}=1'; }; f",
  "declare -i y=1 x={{v}}",
  "declare -n r={{v}}; echo $r",
  "read {{v}} <<<1",
  "unset {{v}}",
];

describe("a position that bash evaluates", () => {
  it.each(REFUSED)("rejects text that could run a command: %j", (source) => {
    expect(() => renderShell(source, { v: SUBSCRIPT })).toThrow(TemplateError);
  });

  it("accepts integers", () => {
    const source = "echo $(( {{a}} + 1 )) $(( 10 -{{b}} )) $(( {{none}} + 2 )); x=abcdef; echo ${x:{{a}}}";
    const { script, env } = renderShell(source, { a: "4", b: -3 });
    const { stdout } = spawnSync("bash", ["-c", script], {
      env: { PATH: process.env.PATH ?? "", ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(stdout).toBe("5 13 2\nef\n");
  });

  it.each([
    "x={{v}}; [[ 1 -eq 1 ]]; echo $x",
    "[[ 1 -eq 1 && {{v}} == q ]]",
    '[ "{{v}}" = x ]',
    "echo file[{{v}}].txt",
    'echo "$(( $(printf %s {{v}} | wc -c) ))"',
    "declare x={{v}}",
    "printf '%s' {{v}}",
  ])("is distinguished from a similar one: %j", (source) => {
    expect(renderShell(source, { v: SUBSCRIPT }).env).toEqual({ W1: SUBSCRIPT });
  });
});
