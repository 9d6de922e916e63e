import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { renderScript } from "./render-script.ts";
import { TemplateError } from "./template-error.ts";

/** Evaluates rendered code with its variables in scope; only for the code of these tests. */
function run(source: string, values: Record<string, unknown>): unknown {
  const { code, variables } = renderScript(source, values);
  const names = Object.keys(variables);
  return new Function(...names, "code", "return eval(code)")(...names.map((name) => variables[name]), code);
}

const HOSTILE = `a"b'c\\d\`e\${f}\n{{x}} // */ /`;

test.each([
  ["{{x}}", HOSTILE],
  ['"{{x}}"', HOSTILE],
  ['"<{{x}}>"', `<${HOSTILE}>`],
  ["'{{x}}{{x}}'", HOSTILE + HOSTILE],
  ["`<{{x}}>`", `<${HOSTILE}>`],
  ["`${`{{x}}` + '{{x}}'}|{{x}}`", `${HOSTILE}${HOSTILE}|${HOSTILE}`],
  ['"a{{x}}b".length', HOSTILE.length + 2],
  ["'{{n}}' * 2 + '1'", "61"],
  ['({"k{{n}}": 1, "{{n}}" : 2, c: true ? "{{n}}" : 0})', { k3: 1, "3": 2, c: "3" }],
  ["true ? '{{n}}' : ['{{n}}', '{{n}}']", "3"],
  ["let a = 1\n'{{n}}'", "3"],
  ['/"/.test(\'"\') && "{{n}}"', "3"],
  ["6 / {{n}} / 2 + '{{n}}'", "13"],
  ["[/[/'\"]/.source, '{{n}}']", ["[/'\"]", "3"]],
  ["/* ' {{x}} */ 'b' // \" {{x}}\n + '{{n}}'", "b3"],
  ["'it\\'s {{n}}'", "it's 3"],
  ["{{list}}[1] + {{list}}.length", 4],
  ['"{{list}}"', "[1,2]"],
  ["{{none}}", ""],
  ['"{{none}}"', ""],
  ["{{code | raw}}", 5],
])("%s", (source, result) => {
  expect(run(source, { x: HOSTILE, n: 3, list: [1, 2], code: "2 + 3" })).toEqual(result);
});

test.each([
  "exec_python('print({{v}})')",
  "execPython({{v}})",
  "exec_ts( `console.log(${trim('{{v}}')})` )",
  "trim(exec_ts('1' + '{{v}}'))",
])("does not become part of another language's program: %s", (script) => {
  expect(() => renderScript(script, { v: "x" })).toThrow("os_setenv");
});

test("may be set in the environment of a program, and used beside it", () => {
  const script = 'os_setenv("V", {{v}}); exec_python("import os") + "{{v}}"';
  expect(renderScript(script, { v: "x" }).variables).toEqual({ __w1: "x", __w2: "x" });
});

test.each([
  ["/a{{x}}/", /regular expression/],
  ["'\\{{x}}'", /backslash/],
])("%s is refused", (source, message) => {
  expect(() => renderScript(source, { x: "v" })).toThrow(message);
});

test("preserves every value, in code and in every kind of literal", () => {
  // biome-ignore lint/nursery/noFloatingPromises: a property that is not asynchronous is checked at once
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (x) => {
      expect(run("[{{x}}, '{{x}}', \"{{x}}\", `{{x}}`, '<{{x}}>'.length]", { x })).toEqual([
        x,
        x,
        x,
        x,
        x.length + 2,
      ]);
    }),
    { numRuns: 300 },
  );
});

describe("a shell command in a script", () => {
  /** The command that `exec_cmd` receives. */
  const commandOf = (
    source: string,
    values: Record<string, unknown>,
    trusted: readonly string[] = [],
  ): string => {
    const { code, variables } = renderScript(source, values, { trusted: (root) => trusted.includes(root) });
    const run = new Function("exec_cmd", ...Object.keys(variables), `${code}`);
    let command = "";
    run(
      (text: string) => {
        command = text;
      },
      ...Object.values(variables),
    );
    return command;
  };
  const bash = (command: string): string =>
    execFileSync("bash", ["-c", command], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

  it("passes every value to the shell as data, in any quotes", () => {
    const hostile = ["a;id", "$(id)", "`id`", "'; id; '", '"; id; "', "x\ny", "a'b\"c\\", "{{v}}", "-n", "*"];
    for (const v of hostile) {
      expect(bash(commandOf("exec_cmd(\"printf '<%s>' {{v}}\")", { v }))).toBe(`<${v}>`);
      expect(bash(commandOf('exec_cmd(\'printf "<%s>" "{{v}}"\')', { v }))).toBe(`<${v}>`);
      expect(bash(commandOf("exec_cmd( 'printf \\'<%s>\\' \\'{{v}}\\'' )", { v }))).toBe(`<${v}>`);
    }
  });

  it("inserts text of the workflow file as syntax", () => {
    expect(
      bash(commandOf('exec_cmd("{{tool}} {{v}}")', { tool: "printf '<%s>'", v: "$(id)" }, ["tool"])),
    ).toBe("<$(id)>");
  });

  it.each([
    "exec_cmd({{v}})",
    "exec_cmd('echo ' + '{{v}}')",
    "exec_cmd('echo {{v}}' + 'x')",
    "exec_cmd(`echo {{v}}`)",
    "exec_cmd(trim('{{v}}'))",
    "bash ( 'a', '{{v}}')",
  ])("rejects a value that is not in the only text of the call: %s", (source) => {
    expect(() => renderScript(source, { v: "x" })).toThrow(TemplateError);
  });

  it("does not change other calls", () => {
    expect(
      renderScript("trim('{{v}}') + my_exec_cmd('{{v}}') + x.bash('{{v}}')", { v: "x" }).variables,
    ).toEqual({
      __w1: "x",
      __w3: "x",
      __w5: "x",
    });
  });
});

describe("a command for another host in a script", () => {
  const argsOf = (source: string, v: string): unknown[] => {
    const { code, variables } = renderScript(source, { v });
    let args: unknown[] = [];
    const run = new Function("ssh_exec", "trim", ...Object.keys(variables), code);
    run(
      (...given: unknown[]) => {
        args = given;
      },
      (text: string) => text.trim(),
      ...Object.values(variables),
    );
    return args;
  };

  it("passes every value to the remote shell as data, and to the other arguments as text", () => {
    for (const v of ["a;id", "$(id)", "'; id; '", '"; id; "', "x\ny", "[[v]] {{v}}", "-oProxyCommand=id"]) {
      const [host, command, user] = argsOf(
        "ssh_exec(trim('{{v}}') , \"printf '<%s>' {{v}}\", '{{v}}', '', '', 22)",
        v,
      );
      expect([host, user]).toEqual([v, v]);
      expect(execFileSync("bash", ["-c", String(command)], { encoding: "utf8" })).toBe(`<${v}>`);
    }
  });

  it.each([
    "ssh_exec('h', {{v}})",
    "ssh_exec('h', 'ls ' + '{{v}}')",
    "ssh_exec('h', 'ls {{v}}' + 'x')",
    "ssh_exec('h', `ls {{v}}`)",
    "ssh_exec('h', trim('{{v}}'))",
    "ssh_exec(['a', 'b'][0], ['{{v}}'][0])",
    "sshExec('h', { a: '{{v}}' }.a)",
    "ssh_exec(`${'h'}`, 'ls {{v}}' + 'x')",
  ])("rejects a value that is in the command but not in its only text: %s", (source) => {
    expect(() => renderScript(source, { v: "x" })).toThrow(TemplateError);
  });
});

describe("a value in code", () => {
  const inCode = (value: unknown, condition: boolean): unknown =>
    Object.values(renderScript("{{v}}", { v: value }, { condition }).variables)[0];

  it("is a boolean if its text is one", () => {
    expect([inCode("true", false), inCode("false", true), inCode("False", true)]).toEqual([
      true,
      false,
      "False",
    ]);
  });

  it("is a number in a condition if its text is a plain number, otherwise text", () => {
    expect(["10", "-3.5", "0"].map((text) => inCode(text, true))).toEqual([10, -3.5, 0]);
    expect(
      ["007", "1e3", "0x10", "1.", "", " 1", "12345678901234567890"].filter(
        (text) => inCode(text, true) !== text,
      ),
    ).toEqual([]);
    expect(inCode("10", false)).toBe("10");
  });
});
