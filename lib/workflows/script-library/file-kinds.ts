import { existsSync, opendirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { textOf } from "./argument-values.ts";
import { kindOfText } from "./detection.ts";
import { pathOf } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

const group = "type_detection";
/** Maximum number of files that `detect_language` examines, and maximum depth. */
const FILES_MAX = 20_000;
const DEPTH_MAX = 12;
const SKIPPED = new Set([
  ".git",
  "node_modules",
  "vendor",
  "dist",
  "build",
  "target",
  "__pycache__",
  ".venv",
]);
const LANGUAGES: Readonly<Record<string, string>> = {
  ".c": "c",
  ".h": "c",
  ".cc": "cpp",
  ".cpp": "cpp",
  ".hpp": "cpp",
  ".cs": "csharp",
  ".dart": "dart",
  ".ex": "elixir",
  ".exs": "elixir",
  ".go": "golang",
  ".java": "java",
  ".js": "javascript",
  ".jsx": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".kt": "kotlin",
  ".lua": "lua",
  ".php": "php",
  ".pl": "perl",
  ".py": "python",
  ".rb": "ruby",
  ".rs": "rust",
  ".scala": "scala",
  ".sh": "shell",
  ".sol": "solidity",
  ".swift": "swift",
  ".ts": "typescript",
  ".tsx": "typescript",
};

/** The kind of entry at this path; undefined if it does not exist or is not accessible. */
function kindOfPath(text: string, context: FunctionContext): "file" | "folder" | undefined {
  try {
    const stats = statSync(pathOf(text, context), { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isDirectory() ? "folder" : "file";
  } catch {
    // The text may be a name instead of a path: an inaccessible path is treated as text.
    return undefined;
  }
}

function* languagesIn(folder: string, depth: number): Generator<string> {
  const handle = opendirSync(folder);
  try {
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      if (entry.isDirectory() && depth < DEPTH_MAX && !SKIPPED.has(entry.name))
        yield* languagesIn(join(folder, entry.name), depth + 1);
      else if (entry.isFile()) yield LANGUAGES[extname(entry.name).toLowerCase()] ?? "";
    }
  } finally {
    handle.closeSync();
  }
}

function mainLanguage(folder: string): string {
  const counts = new Map<string, number>();
  let files = 0;
  for (const language of languagesIn(folder, 0)) {
    files += 1;
    if (files > FILES_MAX) break;
    if (language !== "") counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return most?.[0] ?? "";
}

export const fileKindFunctions = {
  get_types: {
    group,
    params: ["text"],
    returns: "string",
    summary: "The kind of a text: file, folder, cidr, ip, url, domain or string",
    example: 'get_types("10.0.0.0/8")',
    run: ([given], context: FunctionContext) => {
      const text = textOf(given).trim();
      return (text === "" ? undefined : kindOfPath(text, context)) ?? kindOfText(text);
    },
  },
  is_git: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Whether the path is a folder with a git repository",
    failure: false,
    unreachableIsMissing: true,
    run: ([path], context: FunctionContext) => existsSync(join(pathOf(path, context), ".git")),
  },
  detect_language: {
    group,
    params: ["path"],
    returns: "string",
    summary: "The programming language of most files of a folder, such as golang or python; else empty",
    failure: "",
    unreachableIsMissing: true,
    run: ([path], context: FunctionContext) => mainLanguage(pathOf(path, context)),
  },
} satisfies Record<string, LibraryFunction>;
