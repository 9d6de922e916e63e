import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkWords } from "./actions.ts";
import { flagsOf, readArguments } from "./command.ts";
import { commands } from "./commands.ts";
import { startCommand } from "./test-command.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-commands-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const weft = (args: readonly string[], input = "") => startCommand(args, { cwd: folder, input }).ended;

describe("the table of commands", () => {
  /** The words of an example's own part that begins with `weft`. */
  const wordsOf = (line: string): string[] | undefined =>
    [
      ...(/(?:^|\| |<\()(?:\S+=\S+ )?weft ((?:'[^']*'|"[^"]*"|[^|>)'"])*)/.exec(line)?.[1] ?? "").matchAll(
        /'([^']*)'|"([^"]*)"|(\S+)/g,
      ),
    ].map(([, single, double, bare]) => single ?? double ?? bare ?? "");

  test.each(commands.map((command) => [command.name, command] as const))(
    "%s: examples can be called",
    (name, command) => {
      const called = command.examples.map(([line]) => wordsOf(line)).filter((words) => words?.[0] === name);
      expect(command.examples.length).toBeGreaterThanOrEqual(name === "version" ? 1 : 2);
      for (const words of called) {
        const args = readArguments(command, words?.slice(1) ?? []);
        const [action = ""] = args.positionals;
        const { takes } = command.actions?.[action] ?? {};
        if (takes !== undefined && name !== "dead-letters")
          expect(() => checkWords(name, takes, args.positionals.slice(1))).not.toThrow();
      }
    },
  );

  test.each(commands.map((command) => [command.name, command] as const))(
    "%s: flags have one letter each, and belong to actions that there are",
    (_name, command) => {
      const flags = Object.values(flagsOf(command));
      const letters = flags.flatMap(({ short }) => short ?? []);
      expect(new Set(letters).size).toBe(letters.length);
      for (const action of flags.flatMap(({ of }) => of ?? []))
        expect(Object.keys(command.actions ?? {})).toContain(action);
    },
  );
});

test.each([
  [["rum"], "There is no command 'rum'. Did you mean 'run'?"],
  [["shedules"], "There is no command 'shedules'. Did you mean 'schedules'?"],
  [["help", "evnts"], "There is no command 'evnts'. Did you mean 'events'?"],
  [["xyzzy"], "There is no command 'xyzzy'. The commands are: start, run,"],
  [["run", "x", "--taget", "y"], "run has no flag --taget. Did you mean '--target'?"],
  [
    ["runs", "cancle", "x"],
    "runs cannot 'cancle': list, show, steps, cancel, rerun, resume. Did you mean 'cancel'?",
  ],
  [["runs", "show"], "runs show takes <run>: <run> is missing."],
  [["runs", "show", "a", "b"], "'b' is one word too many."],
  [["runs", "show", "a", "--limit", "1"], "--limit goes with list."],
  [["runs", "--limit", "x"], "--limit must be a whole number."],
  [["run"], "run takes the name of a workflow, or a YAML file."],
  [["run", "x", "-p", "a"], "--param must be KEY=VALUE, not 'a'."],
  [["run", "x", "--priority", "soon"], "--priority must be one of low, normal, high, critical."],
  [["runs", "--url", "ftp://x"], "--url is no http URL: ftp://x"],
  [["logs"], "logs takes the id of a run."],
  [["logs", "r", "--tail", "1", "--offset", "1"], "--tail and --offset exclude each other."],
  [["emit"], "emit takes a topic."],
  [["validate"], "validate takes one file or more."],
  [["schedules", "create", "x"], "schedules create takes --workflow."],
  [["completion", "bsh"], "There is no completion for 'bsh': bash, zsh or fish. Did you mean 'bash'?"],
])("exits with 2 and says what is wrong: %j", async (args, message) => {
  const { code, out, error } = await weft(args);
  expect([code, out]).toEqual([2, ""]);
  expect(error).toContain(`weft: ${message}`);
  expect(error).toMatch(/\nTry: weft help[^\n]*\n$/);
});

describe("weft validate", () => {
  const write = (name: string, yaml: string) => writeFile(join(folder, name), yaml);
  const GOOD = "name: good\nsteps: [{name: s, type: bash, command: 'true'}]\n";
  const ODD = "name: odd\nnonsense: 1\nsteps:\n  - {name: s, type: bash, command: 'true'}\n";

  test("says what is wrong by file, line and column, and exits with 1", async () => {
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

  test("warns of keys that nothing reads, which are errors with --strict", async () => {
    await write("odd.yaml", ODD);
    const plain = await weft(["validate", "odd.yaml"]);
    expect([plain.code, plain.out]).toEqual([
      0,
      expect.stringMatching(/^odd\.yaml: warning: nonsense: .*\n.*valid/),
    ]);
    const strict = await weft(["validate", "--strict", "odd.yaml"]);
    expect([strict.code, strict.out]).toEqual([1, expect.stringMatching(/^odd\.yaml:2:\d+: nonsense: /)]);
  });

  test("takes folders and standard input, and the workflow that one extends from beside it", async () => {
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
    expect(await weft(["validate", "-"], GOOD)).toEqual({
      code: 0,
      out: "-: valid module good\n",
      error: "",
    });
  });

  test("a file that is not there, or a folder without one, is said so", async () => {
    await mkdir(join(folder, "empty"));
    expect(await weft(["validate", "gone.yaml"])).toMatchObject({
      code: 1,
      error: "weft: There is no file gone.yaml.\n",
    });
    expect((await weft(["validate", "empty"])).error).toBe("weft: There is no YAML file in empty.\n");
  });
});

describe("the completion of bash", () => {
  /** What bash offers for the last of the words. */
  async function offered(...words: string[]): Promise<string[]> {
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
    expect(await offered(...words)).toEqual(expected);
  });
});

test("the completions of zsh and fish know every command, action and flag", async () => {
  const zsh = (await weft(["completion", "zsh"])).out;
  const fish = (await weft(["completion", "fish"])).out;
  expect(zsh).toMatch(/^#compdef weft\n/);
  for (const command of commands) {
    expect(zsh).toContain(`\n    ${command.name}) _arguments `);
    expect(fish).toContain(`complete -c weft -n '__fish_use_subcommand' -f -a ${command.name} -d `);
    for (const flag of Object.keys(flagsOf(command))) {
      expect(zsh).toContain(`--${flag}[`);
      expect(fish).toMatch(new RegExp(`seen_subcommand_from ${command.name}' -l ${flag}( |$)`, "m"));
    }
    for (const action of Object.keys(command.actions ?? {})) expect(fish).toContain(` -f -a ${action} -d `);
  }
});

test("every command's help has its actions, flags and examples", async () => {
  for (const { name, examples } of commands) {
    const { code, out } = await weft(["help", name]);
    expect(code).toBe(0);
    for (const [line] of examples) expect(out).toContain(line);
  }
  expect((await weft(["run", "-h"])).out).toMatch(
    /-p, --param KEY=VALUE +A parameter; may be given several times\n/,
  );
  expect((await weft(["run", "-h"])).out).toMatch(/Exit codes[\s\S]*130 +it was cancelled/);
});
