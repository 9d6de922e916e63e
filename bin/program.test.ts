import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { optionsOf } from "./command.ts";
import { program } from "./program.ts";
import { runCommand, startCommand } from "./test-command.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-commands-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const weft = (args: readonly string[]) => runCommand(args, { cwd: folder });

const commands = program.commands;
const named = commands.map((command) => [command.name(), command] as const);

describe("the commands", () => {
  /** The arguments of the `weft` command in an example's line. */
  const argumentsOf = (line: string): string[] =>
    [
      ...(/(?:^|\| |<\()(?:\S+=\S+ )?weft ((?:'[^']*'|"[^"]*"|[^|>)'"])*)/.exec(line)?.[1] ?? "").matchAll(
        /'([^']*)'|"([^"]*)"|(\S+)/g,
      ),
    ].map(([, single, double, bare]) => single ?? double ?? bare ?? "");

  test.each(named)("%s: examples can be called", async (name, command) => {
    const examples = command.examples.map(([line]) => argumentsOf(line)).filter(([first]) => first === name);
    expect(command.examples.length).toBeGreaterThanOrEqual(name === "version" ? 1 : 2);
    for (const each of [command, ...command.commands]) if (each.commands.length === 0) each.action(() => {});
    for (const [, ...args] of examples) await command.parseAsync(args, { from: "user" });
  });

  test.each(named)("%s: options have distinct letters", (_name, command) => {
    for (const each of [command, ...command.commands]) {
      const letters = [...command.options, ...(each === command ? [] : each.options)].flatMap(
        ({ short }) => short ?? [],
      );
      expect(new Set(letters).size).toBe(letters.length);
    }
  });
});

test.each([
  [["rum"], "Unknown command 'rum'. Did you mean run?"],
  [["shedules"], "Unknown command 'shedules'. Did you mean schedules?"],
  [["help", "evnts"], "Unknown command 'evnts'. Did you mean 'events'?"],
  [["xyzzy"], "Unknown command 'xyzzy'. Use one of: start, open,"],
  [["run", "x", "--taget", "y"], "Unknown option '--taget'. Did you mean --target?"],
  [["runs", "cancle", "x"], "Unknown command 'runs cancle'. Did you mean 'cancel'?"],
  [["runs", "show"], "Missing required argument 'run'."],
  [["runs", "show", "a", "b"], "Too many arguments for 'show'. Expected 1 argument but got 2."],
  [["runs", "show", "a", "--limit", "1"], "Unknown option '--limit'."],
  [["runs", "--limit", "x"], "Option '--limit <count>' argument 'x' is invalid. It must be a whole number."],
  [["run"], "Missing required argument 'name|file.yaml'."],
  [
    ["run", "x", "-p", "a"],
    "Option '-p, --param <key=value>' argument 'a' is invalid. It must have the form KEY=VALUE.",
  ],
  [
    ["run", "x", "--priority", "soon"],
    "Option '--priority <name>' argument 'soon' is invalid. Allowed choices are low, normal, high, critical.",
  ],
  [["runs", "--url", "ftp://x"], "--url must be an http or https URL, not 'ftp://x'."],
  [["logs"], "Missing required argument 'run'."],
  [
    ["logs", "r", "--tail", "1", "--offset", "1"],
    "Option '-n, --tail <lines>' cannot be used with option '--offset <bytes>'.",
  ],
  [["emit"], "Missing required argument 'topic'."],
  [["validate"], "Missing required argument 'file|folder'."],
  [["schedules", "create", "x"], "Required option '--workflow <name>' not specified."],
  [["completion", "bsh"], "There is no completion for 'bsh'. Did you mean 'bash'?"],
])("exits with 2 and one sentence: %j", async (args, message) => {
  const { code, out, error } = await weft(args);
  expect([code, out]).toEqual([2, ""]);
  expect(error).toContain(`weft: ${message}`);
  expect(error).toMatch(/\nTry: weft help[^\n]*\n$/);
});

describe("weft validate", () => {
  const write = (name: string, yaml: string) => writeFile(join(folder, name), yaml);
  const GOOD = "name: good\nsteps: [{name: s, type: bash, command: 'true'}]\n";
  const ODD = "name: odd\nnonsense: 1\nsteps:\n  - {name: s, type: bash, command: 'true'}\n";

  test("reports errors by file, line and column, and exits with 1", async () => {
    await write("good.yaml", GOOD);
    await write("bad.yaml", "name: bad\nsteps:\n  - name: s\n    type: bsh\n  - name: s\n    type: bash\n");
    await write("torn.yaml", "name: [\n");
    const { code, out, error } = await weft(["validate", "good.yaml", "bad.yaml", "torn.yaml"]);
    expect([code, error]).toEqual([1, "weft: 2 of 3 files are not valid.\n"]);
    expect(out).toMatch(
      /^good\.yaml: valid module good\nbad\.yaml:4:11: steps\[0\]\.type: unknown step type "bsh"/,
    );
    expect(out).toMatch(/\ntorn\.yaml:\d+:\d+: /);
    const json = JSON.parse((await weft(["validate", "bad.yaml", "good.yaml", "--json"])).out);
    expect(json).toMatchObject({
      valid: false,
      files: [
        {
          file: "bad.yaml",
          valid: false,
          errors: [{ line: 4, column: 11, path: "steps[0].type" }, { path: "steps[1]" }],
          warnings: [expect.stringMatching(/^steps\[1\]\.name: .*more than once/)],
        },
        { file: "good.yaml", valid: true, name: "good", kind: "module", errors: [], warnings: [] },
      ],
    });
  });

  test("warns about unknown keys, which are errors with --strict", async () => {
    await write("odd.yaml", ODD);
    const plain = await weft(["validate", "odd.yaml"]);
    expect([plain.code, plain.out]).toEqual([
      0,
      expect.stringMatching(/^odd\.yaml: warning: nonsense: .*\n.*valid/),
    ]);
    const strict = await weft(["validate", "--strict", "odd.yaml"]);
    expect([strict.code, strict.out]).toEqual([1, expect.stringMatching(/^odd\.yaml:2:\d+: nonsense: /)]);
  });

  test("accepts folders and standard input, and reads the parent workflow from the same folder", async () => {
    await mkdir(join(folder, "flows/deep"), { recursive: true });
    await write("flows/base.yaml", GOOD.replace("good", "base"));
    await write("flows/heir.yml", "name: heir\nextends: base\n");
    await write("flows/deep/lost.yaml", "name: lost\nextends: base\n");
    await write("flows/notes.txt", "no: workflow");
    const { code, out } = await weft(["validate", "flows"]);
    expect([code, out.split("\n").map((line) => line.split(": ").slice(0, 2).join(": "))]).toEqual([
      1,
      [
        "flows/base.yaml: valid module base",
        "flows/deep/lost.yaml:2:10: extends",
        "flows/heir.yml: valid module heir",
        "",
      ],
    ]);
    expect(await startCommand(["validate", "-"], { cwd: folder, input: GOOD }).ended).toEqual({
      code: 0,
      out: "-: valid module good\n",
      error: "",
    });
  });

  test("reports a file that does not exist, and a folder without a YAML file", async () => {
    await mkdir(join(folder, "empty"));
    expect(await weft(["validate", "gone.yaml"])).toMatchObject({
      code: 1,
      error: "weft: The file gone.yaml does not exist.\n",
    });
    expect((await weft(["validate", "empty"])).error).toBe("weft: The folder empty contains no YAML file.\n");
  });
});

describe("completion in bash", () => {
  /** The completions of the last word. */
  async function complete(...words: string[]): Promise<string[]> {
    const script = (await weft(["completion", "bash"])).out;
    await writeFile(join(folder, "completion.bash"), script);
    const program = `source ./completion.bash
COMP_WORDS=(weft "$@"); COMP_CWORD=$#; _weft; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", program, "bash", ...words], { cwd: folder });
    return stdout.split("\n").filter((word) => word !== "");
  }

  test.each([
    [["ru"], ["run", "runs"]],
    [
      ["runs", "s"],
      ["show", "steps"],
    ],
    [["help", "dead"], ["dead-letters"]],
    [["run", "x", "--pr"], ["--priority"]],
    [
      ["run", "--priority", ""],
      ["low", "normal", "high", "critical"],
    ],
    [
      ["runs", "--status", "c"],
      ["completed", "cancelled"],
    ],
    [["run", "-t", ""], []],
  ])("of %j", async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });
});

test("the completions of zsh and fish contain every command, subcommand and option", async () => {
  const zsh = (await weft(["completion", "zsh"])).out;
  const fish = (await weft(["completion", "fish"])).out;
  expect(zsh).toMatch(/^#compdef weft\n/);
  for (const command of commands) {
    expect(zsh).toContain(`\n    ${command.name()}) _arguments `);
    expect(fish).toContain(`complete -c weft -n '__fish_use_subcommand' -f -a ${command.name()} -d `);
    for (const option of optionsOf(command)) {
      expect(zsh).toContain(`--${option.name()}[`);
      expect(fish).toMatch(
        new RegExp(`seen_subcommand_from ${command.name()}' -l ${option.name()}( |$)`, "m"),
      );
    }
    for (const each of command.commands) expect(fish).toContain(` -f -a ${each.name()} -d `);
  }
});

test("every command's help has its subcommands, options and examples", async () => {
  for (const command of commands) {
    const { code, out } = await weft(["help", command.name()]);
    expect(code).toBe(0);
    for (const [line] of command.examples) expect(out).toContain(line);
    for (const each of command.commands) expect(out).toMatch(new RegExp(`^  ${each.name()} `, "m"));
    for (const option of optionsOf(command)) expect(out).toContain(`  ${option.flags} `);
  }
  expect((await weft(["run", "-h"])).out).toMatch(/-p, --param <key=value> +A parameter; can be repeated\n/);
  expect((await weft(["run", "-h"])).out).toMatch(/Exit codes[\s\S]*130 +it was cancelled/);
});
