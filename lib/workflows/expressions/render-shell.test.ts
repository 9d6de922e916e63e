import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderShell, type ShellOptions } from "./render-shell.ts";
import { TemplateError } from "./template-error.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-shell-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of bash for a rendered command. */
function bash(source: string, values: Record<string, unknown>, options?: ShellOptions): string {
  const { script, env } = renderShell(source, values, options);
  const done = spawnSync("bash", ["-c", script], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    // If its input were a socket, bash would act as a remote shell and read .bashrc.
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(done.stderr).toBe("");
  return done.stdout;
}

const HOSTILE = [
  "a;to\nuch x",
  "$(touch pwned)",
  "`touch pwned`",
  "'; touch pwned; '",
  '"; touch pwned; "',
  "*",
  "~root",
  "-rf",
  "$HOME ${HOME} $((1+1))",
  "\\",
  "\\'",
  "EOF\ntouch pwned",
  "{{Target}} [[x]] {{secrets.KEY}}",
  "a b  c",
  "\n\n",
  "é 漢 \u{1F600}",
  "!history",
  "# comment",
  "&& touch pwned",
  "> pwned",
  "",
];
const value = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => !text.includes("\0")),
);

/** Every kind of position, with the expected output around the value. */
const PLACES: readonly [name: string, source: string, expected: (value: string) => string][] = [
  ["bare", "printf '<%s>' {{v}}", (v) => `<${v}>`],
  ["part of a word", "printf '<%s>' a{{v}}b", (v) => `<a${v}b>`],
  ["in double quotes", 'printf "<%s>" "x {{v}} y"', (v) => `<x ${v} y>`],
  ["in single quotes", "printf '<%s>' 'x {{v}} y'", (v) => `<x ${v} y>`],
  ["in ANSI quotes", "printf '<%s>' $'x\\t{{v}}'", (v) => `<x\t${v}>`],
  ["in a substitution", "printf '<%s>' \"$(printf '%s.' {{v}})\"", (v) => `<${v}.>`],
  ["in a substitution in quotes", "printf '<%s>' \"$(printf '%s.' \"{{v}}\")\"", (v) => `<${v}.>`],
  ["in backticks", "printf '<%s>' \"`printf '%s.' {{v}}`\"", (v) => `<${v}.>`],
  ["in an assignment", "x={{v}}; printf '<%s>' \"$x\"", (v) => `<${v}>`],
  ["in a here-document", "cat <<END\n<{{v}}>\nEND", (v) => `<${v}>\n`],
  ["in a quoted here-document", "cat <<'END'\n<{{v}}>\nEND", (v) => `<${v}>\n`],
  ["in a test", '[[ {{v}} == "{{v}}" ]] && printf same', () => "same"],
  ["in a comment", "printf ok # {{v}}", () => "ok"],
  ["in a function and a case", "f() { case {{v}} in *) printf '<%s>' {{v}};; esac; }; f", (v) => `<${v}>`],
];

describe("a rendered command", () => {
  it.each(PLACES)("prints any value exactly, %s", (_name, source, expected) => {
    const check = (text: string): void => {
      expect(bash(source, { v: text })).toBe(expected(text));
    };
    for (const text of HOSTILE) check(text);
    fc.assert(fc.property(value, check), { numRuns: 15 });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("rejects a value with a NUL, and a value in a quoted here-document inside backticks", () => {
    expect(() => renderShell("x=`cat <<'E'\n{{v}}\nE\n`", { v: "x" })).toThrow(TemplateError);
    expect(() => renderShell("echo {{v}}", { v: "a\0b" })).toThrow(TemplateError);
  });

  it("inserts text of the workflow file as syntax, and values in it as data", () => {
    const options = { trusted: (root: string) => root === "tool" };
    expect(bash("{{tool}} {{v}}", { tool: "printf '<%s>'", v: "$(id)" }, options)).toBe("<$(id)>");
  });

  it("splits values marked with split, without glob expansion", () => {
    writeFileSync(join(folder, "seen"), "");
    expect(bash("printf '<%s>' {{v | split}}", { v: "a * $(id)" })).toBe("<a><*><$(id)>");
    rmSync(join(folder, "seen"));
  });

  it("does not change bash's own double brackets", () => {
    expect(bash("[[ -d . ]] && printf yes", {})).toBe("yes");
  });

  it("passes a large value completely through a file", () => {
    const large = `${"x".repeat(200_000)}\n\n`;
    const written = new Map<string, string>();
    const writeFile = (name: string, content: string): string => {
      const path = join(folder, name);
      written.set(path, content);
      writeFileSync(path, content);
      return path;
    };
    expect(bash("printf '<%s>' {{v}}", { v: large }, { writeFile })).toBe(`<${large}>`);
    expect(written.size).toBe(1);
    for (const path of written.keys()) rmSync(path);
  });

  it("renders in time proportional to its text", () => {
    for (const text of ["{{", "[[", "'", '"', "$(", "`", "<<E ", "\\"]) {
      const source = text.repeat(30_000);
      const started = process.cpuUsage().user;
      try {
        renderShell(source, {});
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
      expect(process.cpuUsage().user - started).toBeLessThan(2_000_000);
    }
  });
});
