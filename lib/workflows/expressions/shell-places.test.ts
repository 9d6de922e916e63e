import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderShell } from "./render-shell.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-places-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bash(source: string, values: Record<string, unknown>): string {
  const { script, env } = renderShell(source, values);
  const { stdout, stderr } = spawnSync("bash", ["-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8", ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(stderr).toBe("");
  return stdout;
}

const VALUES = ["a  b", `it's "$(touch pwned)"`, "`touch pwned`\n", "*", "\\", "&", "a]b}c)d #", "-e é漢"];
const parts = (value: string): string[] => value.split(/\s/).filter((part) => part !== "");

const PLACES: readonly [source: string, expected: (value: string) => string][] = [
  // Expansions
  ["printf '<%s>' \"${none:-{{v}}}\"", (v) => `<${v}>`],
  ["printf '<%s>' ${none:-{{v}}}", (v) => `<${v}>`],
  ['printf \'<%s>\' "${none:-"{{v}}"}"', (v) => `<${v}>`],
  ["printf '<%s>' \"${none:-'{{v}}'}\"", (v) => `<'${v}'>`],
  ["x=AZA; printf '<%s>' \"${x/Z/{{v}}}\"", (v) => `<A${v}A>`],
  ["x={{v}}END; printf '<%s>' \"${x#{{v}}}\" \"${x#'{{v}}'}\" ${x#'{{v}}'}", () => "<END><END><END>"],
  ["cat <<E\n${none:-{{v}}}\nE", (v) => `${v}\n`],
  ["x={{v}}END; cat <<E\n${x#{{v}}}\nE", () => "END\n"],
  // Here-documents
  ["cat <<-E\n\t<{{v}}>\n\tE\nprintf '%s' '{{v}}'", (v) => `<${v}>\n${v}`],
  ["cat <<A; cat <<B; printf '%s' '{{v}}'\na {{v}}\nA\nb {{v}}\nB", (v) => `a ${v}\nb ${v}\n${v}`],
  ["x=$(cat <<E\n{{v}}.\nE\n); printf '<%s>' \"$x\" '{{v}}'", (v) => `<${v}.><${v}>`],
  ["cat <<'E' >/dev/null\n$(it's \" `\nE\nprintf '<%s>' '{{v}}'", (v) => `<${v}>`],
  ["cat <<\\E >/dev/null\n$(it's \" `\nE\nprintf '<%s>' '{{v}}'", (v) => `<${v}>`],
  ["cat <<E >/dev/null\nit's \"\nE\nprintf '<%s>' '{{v}}'", (v) => `<${v}>`],
  ["cat <<< {{v}}", (v) => `${v}\n`],
  // Quoted here-documents: all text except the values is literal
  [
    "cat <<'E'\n$x ${y} $(id) `id` \\ \\$ \\\n\\n\" ' {{v}}|{{v}}\nE\nprintf '<%s>' '{{v}}'",
    (v) => `$x \${y} $(id) \`id\` \\ \\$ \\\n\\n" ' ${v}|${v}\n<${v}>`,
  ],
  ["cat <<\\E\n\\{{v}} ${{v}} `{{v}}`\nE", (v) => `\\${v} $${v} \`${v}\`\n`],
  ['cat <<"E x"\nE\n{{v}}\nE x', (v) => `E\n${v}\n`],
  ["cat <<''\nEOF {{v}}\n\nprintf '%s' '{{v}}'", (v) => `EOF ${v}\n${v}`],
  ["cat <<-'E'\n\t\t<{{v}}> \t$x\n\tE\nprintf '%s' '{{v}}'", (v) => `<${v}> \t$x\n${v}`],
  [
    "cat <<'A'; cat <<B; cat <<'C'\n$a {{v}}\nA\nb {{v}}\nB\n$c {{v}}\nC",
    (v) => `$a ${v}\nb ${v}\n$c ${v}\n`,
  ],
  ["x=$(cat <<'E'\n$1 {{v}}.\nE\n); printf '<%s>' \"$x\"", (v) => `<$1 ${v}.>`],
  ["printf '<%s>' \"$(cat <<'E'\n\"$1\" {{v}}.\nE\n)\"", (v) => `<"$1" ${v}.>`],
  ["f() { for i in 1 2; do cat <<'E'\n$i {{v}}\nE\ndone; }; f", (v) => `$i ${v}\n$i ${v}\n`],
  ["cat <<'E' | cat; printf '%s' '{{v}}'\n{{v}}\nE", (v) => `${v}\n${v}`],
  // Substitutions, and the closing parentheses of case patterns in them
  ["x=$(case a in a) printf '%s.' {{v}};; esac); printf '%s' \"$x\" '{{v}}'", (v) => `${v}.${v}`],
  ["x=$(case a in (a) printf '%s.' {{v}};; esac); printf '%s' \"$x\" '{{v}}'", (v) => `${v}.${v}`],
  ["x=$(f(){ case a in a) printf '%s.' {{v}};; esac; }; f); printf '%s' \"$x\" '{{v}}'", (v) => `${v}.${v}`],
  ["x=$(function f { case a in a) printf '%s.' {{v}};; esac; }; f); printf '%s' '{{v}}'", (v) => v],
  ["printf '<%s>' \"$(printf '%s.' \"$(printf '%s' '{{v}}x')\")\"", (v) => `<${v}x.>`],
  ["x=$((printf a); printf \"it's\"); printf '<%s>' '{{v}}'", (v) => `<${v}>`],
  ["printf '<%s>' \"`printf '%s.' '{{v}}'`\" \"`printf '%s.' \\\"{{v}}\\\"`\"", (v) => `<${v}.><${v}.>`],
  ["printf '%s' \"a`printf '\"'`b\" '{{v}}'", (v) => `a"b${v}`],
  ["cat <(printf '%s' {{v}})", (v) => v],
  // Backslashes, dollar signs, comments and arithmetic before a value
  ["printf '<%s>' \"\\{{v}}\" \\{{v}} $'\\{{v}}'", (v) => `<\\${v}><${v}><\\${v}>`],
  ['printf \'<%s>\' "${{v}}" ${{v}} "\\${{v}}" \\\\{{v}}', (v) => `<$${v}><$${v}><$${v}><\\${v}>`],
  ["cat <<E\n${{v}} \\{{v}}\nE", (v) => `$${v} \\${v}\n`],
  ["printf '%s' $# ${#x} {{v}} # it's {{v}}\nprintf '<%s>' '{{v}}'#", (v) => `00${v}<${v}#>`],
  ["((1<2)) && for ((i=0;i<1;i++)); do printf '<%s>' '{{v}}' $((1<<2)); done", (v) => `<${v}><4>`],
  ["{ printf '<%s>' {{v}}; (printf '%s' '{{v}}') ; } 2>&1 | cat", (v) => `<${v}>${v}`],
  ["printf '<%s>' a\\'{{v}}\\\" $\"{{v}}\"", (v) => `<a'${v}"><${v}>`],
  ["[[ {{v}} == {{v}} && ( a == b || {{v}} == '{{v}}' ) ]] && printf same", () => "same"],
  // | split, in positions where the shell splits words and where it does not
  [
    "for i in {{v|split}}; do printf '<%s>' \"$i\"; done",
    (v) =>
      parts(v)
        .map((w) => `<${w}>`)
        .join(""),
  ],
  ["a=(x {{v|split}}); printf '<%s>' \"${a[@]}\"", (v) => ["x", ...parts(v)].map((w) => `<${w}>`).join("")],
  ["x={{v|split}}; printf '%s' \"$x\"", (v) => parts(v).join(" ")],
  ["cat <<< {{v|split}}", (v) => `${parts(v).join(" ")}\n`],
  // | shell, read by this shell and by an inner one
  ["printf '<%s>' {{v|shell}}", (v) => `<${v}>`],
  ["bash -c \"printf '<%s>' {{v|shell}}\"", (v) => `<${v}>`],
  ["bash -c 'printf \"<%s>\" {{v|shell}}'", (v) => `<${v}>`],
  ["eval printf \"'<%s>'\" {{v|shell}}", (v) => `<${v}>`],
  ["bash <<E\nprintf '<%s>' {{v|shell}}\nE", (v) => `<${v}>`],
];

describe("a value in a command", () => {
  it.each(PLACES)("is data in %j", (source, expected) => {
    for (const v of VALUES) expect(bash(source, { v })).toBe(expected(v));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("that is a list quoted for a shell is several words between words, and one text elsewhere", () => {
    const v = ["a", "touch pwned"];
    expect(bash("printf '<%s>' {{v|shell}}", { v })).toBe("<a><touch pwned>");
    expect(bash("x={{v|shell}}; printf '<%s>' \"$x\"", { v })).toBe("<a 'touch pwned'>");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("gets a variable name that the command does not use itself", () => {
    expect(bash("W1=own; W_1=too; printf '<%s>' {{v}} $W1 $W_1", { v: "x" })).toBe("<x><own><too>");
  });

  it("is stored once, regardless of the number of uses", () => {
    expect(renderShell('echo {{v}} "{{v}}" {{w}}', { v: "x", w: "y" }).env).toEqual({ W1: "x", W2: "y" });
  });

  it("is rejected if it is too large and cannot be written to a file", () => {
    expect(() => renderShell("echo {{v}}", { v: "x".repeat(97 * 1024) })).toThrow("too large");
  });

  it("is passed through a file if all values together are too large", () => {
    const written: string[] = [];
    const writeFile = (name: string): string => `/values/${written.push(name)}`;
    const { env, files } = renderShell(
      "echo {{a}} {{b}}",
      { a: "aaa", b: "bbb" },
      { maxTotalBytes: 5, writeFile },
    );
    expect(env).toEqual({ W1: "aaa", W2_FILE: "/values/1" });
    expect(files).toEqual([{ name: "W2", path: "/values/1", bytes: 3 }]);
  });

  it("is syntax if it is the workflow's own text: trusted names, literals, defaults, | raw", () => {
    const options = { trusted: (root: string) => root === "tool" };
    const render = (source: string, values: Record<string, unknown>): string =>
      renderShell(source, values, options).script;
    expect(render("{{tool}} x", { tool: "nuclei -silent" })).toBe("nuclei -silent x");
    expect(render("{{flags | default('-a -b')}}", {})).toBe("-a -b");
    expect(render("{{flags | default('-a -b')}}", { flags: "; id" })).toBe('"${W1}"');
    expect(render('echo {{ "{{" }}', {})).toBe("echo {{");
    expect(render("{{x | raw}}", { x: "ls | wc" })).toBe("ls | wc");
    expect(render("bash -c '{{tool}} {{x}}'", { tool: "echo '", x: "v" })).toBe(`bash -c 'echo ' "\${W1}"'`);
  });
});
