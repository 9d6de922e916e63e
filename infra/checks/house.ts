import { type Finding, isTest, type Source } from "./sources.ts";

interface HouseRule {
  readonly name: string;
  readonly message: string;
  /** Paths that the rule applies to. */
  readonly applies: (path: string) => boolean;
  readonly broken: (source: Source) => boolean;
}

/** Maximum number of lines of a file that is not a test. */
export const FILE_LINES_MAX = 400;

const nameOf = (path: string): string => path.split("/").at(-1)?.split(".")[0] ?? "";
/** Comments may mention anything. */
const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");

export const HOUSE_RULES: readonly HouseRule[] = [
  {
    name: "name-says-what",
    message: "name the file after its contents, not utils, helpers or common",
    applies: () => true,
    broken: ({ path }) => /(?:^|-)(?:utils?|helpers?|commons?)$/.test(nameOf(path)),
  },
  {
    name: "no-default-export",
    message: "use a named export",
    applies: (path) => !path.endsWith(".config.ts"),
    broken: ({ text }) => /^\s*export\s+default\b|^\s*export\s*\{[^}]*\bas\s+default\b/m.test(text),
  },
  {
    name: "zod-as-namespace",
    message: 'write import * as z from "zod": the named form puts four times as much into a bundle',
    applies: () => true,
    broken: ({ text }) =>
      /^\s*import\s+(?!type\b)(?:[\w$]+\s*(?:,\s*\{[^}]*\})?|[^;*"']*\{[^}]*\bz\b[^}]*\})\s*from\s*["']zod["']/m.test(
        text,
      ),
  },
  {
    name: "file-length",
    message: `more than ${FILE_LINES_MAX} lines: split it by topic`,
    applies: (path) => !isTest(path),
    broken: ({ text }) => text.trimEnd().split("\n").length > FILE_LINES_MAX,
  },
  {
    name: "no-environment-in-services",
    message: "pass settings to the service instead of reading process.env",
    applies: (path) =>
      /^lib\/(?:workflows|documents|collaboration|events|http)\//.test(path) && !isTest(path),
    broken: ({ text }) => /\bprocess\.env\b/.test(withoutComments(text)),
  },
  {
    name: "no-scans",
    message: "only migrations scan a table: query by a key or an index",
    applies: (path) =>
      /^(?:lib|functions)\//.test(path) && !/^lib\/(?:upgrades|platform)\//.test(path) && !isTest(path),
    broken: ({ text }) => /\btables\s*\.\s*scan\b/.test(withoutComments(text)),
  },
];

/** Checks the project's conventions that the linter has no rule for. */
export function checkHouse(sources: readonly Source[]): Finding[] {
  return sources.flatMap((source) =>
    HOUSE_RULES.filter((rule) => rule.applies(source.path) && rule.broken(source)).map((rule) => ({
      path: source.path,
      rule: rule.name,
      message: rule.message,
    })),
  );
}
