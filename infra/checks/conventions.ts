import { type Finding, isTest, type Source } from "./sources.ts";

interface Convention {
  readonly name: string;
  readonly message: string;
  /** Paths that the rule applies to. */
  readonly appliesTo: (path: string) => boolean;
  readonly isBroken: (source: Source) => boolean;
}

/** Maximum number of lines of a file that is not a test. */
export const FILE_LINES_MAX = 400;

const baseName = (path: string): string => path.split("/").at(-1)?.split(".")[0] ?? "";
/** Comments may mention anything. */
const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");

export const CONVENTIONS: readonly Convention[] = [
  {
    name: "name-says-what",
    message: "name the file after its contents, not utils, helpers or common",
    appliesTo: () => true,
    isBroken: ({ path }) => /(?:^|-)(?:utils?|helpers?|commons?)$/.test(baseName(path)),
  },
  {
    name: "no-default-export",
    message: "use a named export",
    appliesTo: (path) => !path.endsWith(".config.ts"),
    isBroken: ({ text }) => /^\s*export\s+default\b|^\s*export\s*\{[^}]*\bas\s+default\b/m.test(text),
  },
  {
    name: "zod-as-namespace",
    message: 'write import * as z from "zod": the named form puts four times as much into a bundle',
    appliesTo: () => true,
    isBroken: ({ text }) =>
      /^\s*import\s+(?!type\b)(?:[\w$]+\s*(?:,\s*\{[^}]*\})?|[^;*"']*\{[^}]*\bz\b[^}]*\})\s*from\s*["']zod["']/m.test(
        text,
      ),
  },
  {
    name: "file-length",
    message: `more than ${FILE_LINES_MAX} lines: split it by topic`,
    appliesTo: (path) => !isTest(path) && path !== "client/api-types.ts",
    isBroken: ({ text }) => text.trimEnd().split("\n").length > FILE_LINES_MAX,
  },
  {
    name: "no-environment-in-services",
    message: "pass settings to the service instead of reading process.env",
    appliesTo: (path) =>
      /^lib\/(?:workflows|documents|collaboration|events|http)\//.test(path) && !isTest(path),
    isBroken: ({ text }) => /\bprocess\.env\b/.test(withoutComments(text)),
  },
  {
    name: "no-scans",
    message: "only migrations scan a table: query by a key or an index",
    appliesTo: (path) =>
      /^(?:lib|functions)\//.test(path) && !/^lib\/(?:upgrades|platform)\//.test(path) && !isTest(path),
    isBroken: ({ text }) => /\btables\s*\.\s*scan\b/.test(withoutComments(text)),
  },
  {
    name: "retry-on-conflict",
    message: "use retryOnConflict from lib/retry-on-conflict.ts instead of a loop over attempts",
    appliesTo: (path) => /^(?:lib|functions)\//.test(path) && !isTest(path),
    isBroken: ({ text }) => /\bfor\s*\(\s*let\s+attempts?\b/.test(text),
  },
];

/** Checks the project's conventions that the linter has no rule for. */
export function checkConventions(sources: readonly Source[]): Finding[] {
  return sources.flatMap((source) =>
    CONVENTIONS.filter((rule) => rule.appliesTo(source.path) && rule.isBroken(source)).map((rule) => ({
      path: source.path,
      rule: rule.name,
      message: rule.message,
    })),
  );
}
