import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Concatenated, so that an audit of this repository does not report this file. */
const NOTE = ["TO", "DO"].join("");
const FIX = ["FIX", "ME"].join("");
const CLOUD_KEY = `AKIA${"ABCDEFGH23456789"}`;
const TOKEN = `ghp_${"a1".repeat(18)}`;
const PRIVATE_KEY = `-----BEGIN OPENSSH PRIVATE ${"KEY"}-----`;

/** Secrets that no finding may contain. */
export const KEYS = [CLOUD_KEY, TOKEN];

interface AuditedFile {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** `line kind` of each finding, or `large-file`. */
  readonly findings: readonly string[];
  /** The file's name in asset values, if it differs from its path. */
  readonly shown?: string;
}

const files: readonly AuditedFile[] = [
  {
    name: "src/plain.ts",
    content: `one\n// ${NOTE}: two\nthree\n// ${FIX}\n`,
    findings: ["2 todo", "4 fixme"],
  },
  { name: "src/clean.ts", content: "nothing to see\ntodo in small letters\n", findings: [] },
  {
    name: "several.txt",
    content: `${NOTE} ${NOTE} ${FIX} ${CLOUD_KEY}\n`,
    findings: ["1 todo", "1 fixme", "1 key"],
  },
  { name: "with space.txt", content: `${NOTE}\n`, findings: ["1 todo"] },
  { name: " around ", content: `${NOTE}\n`, findings: ["1 todo"] },
  { name: "q\"uo'te.txt", content: `x\n${NOTE}\n`, findings: ["2 todo"] },
  { name: "back\\slash %s.txt", content: `${FIX}\n`, findings: ["1 fixme"] },
  { name: "größe/日本語 🙂.md", content: `# ${NOTE}\n`, findings: ["1 todo"] },
  { name: "-rf", content: `${NOTE}\n`, findings: ["1 todo"] },
  { name: "-", content: `${NOTE}\n`, findings: ["1 todo"] },
  { name: "$(touch injected);`touch injected`&.sh", content: `${NOTE}\n`, findings: ["1 todo"] },
  { name: "[[file]] {{Target}}.txt", content: `${NOTE}\n`, findings: ["1 todo"] },
  { name: "new\nline.txt", content: `${NOTE}\n`, findings: ["1 todo"], shown: '"new\\nline.txt"' },
  { name: "crlf.txt", content: `a\r\n${NOTE}\r\nb\r\n${FIX}\r\n`, findings: ["2 todo", "4 fixme"] },
  { name: "no-end.txt", content: `a\n${NOTE}`, findings: ["2 todo"] },
  { name: "latin1.txt", content: Buffer.from(`caf\xe9 ${NOTE}\n`, "latin1"), findings: ["1 todo"] },
  { name: "empty", content: "", findings: [] },
  { name: "binary.bin", content: `\0\u0001${NOTE}\n${CLOUD_KEY}\n`, findings: [] },
  { name: "keys/id.pem", content: `${PRIVATE_KEY}\nAAAA\n`, findings: ["1 key"] },
  { name: "keys/ci.env", content: `A=1\nTOKEN=${TOKEN}\n`, findings: ["2 key"] },
  { name: "keys/not-one.env", content: `A=${CLOUD_KEY.slice(0, -1)}\n`, findings: [] },
  {
    name: "large.txt",
    content: `${`${"x".repeat(99)}\n`.repeat(12_000)}${NOTE}\n`,
    findings: ["12001 todo", "large-file"],
  },
  { name: "large.bin", content: new Uint8Array(1_200_000), findings: ["large-file"] },
  { name: "exactly-1-mib.bin", content: new Uint8Array(1024 * 1024), findings: [] },
];

/**
 * Creates a git repository with known findings. Returns the values of the assets that an audit of it reports.
 */
export async function makeRepository(folder: string): Promise<ReadonlySet<string>> {
  const git = (...args: string[]) => run("git", ["-C", folder, "-c", "core.autocrlf=false", ...args]);
  await mkdir(folder, { recursive: true });
  for (const { name, content } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  await symlink("/etc/passwd", join(folder, "link-out"));
  await symlink("src/plain.ts", join(folder, "link-in"));
  await git("init", "--quiet");
  await git("add", "--all");
  await writeFile(join(folder, "untracked.txt"), `${NOTE}\n`);
  return new Set(files.flatMap(valuesOf));
}

function valuesOf({ name, shown = name, findings }: AuditedFile): string[] {
  return findings.map((finding) => (/^\d/.test(finding) ? `${shown}:${finding}` : `${shown} ${finding}`));
}
