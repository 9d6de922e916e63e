import { type Finding, isTest, type Source } from "./sources.ts";

interface HouseRule {
  readonly name: string;
  readonly message: string;
  /** Files that it is about. */
  readonly applies: (path: string) => boolean;
  readonly broken: (source: Source) => boolean;
}

/** Lines of a file that is no test, at most. */
export const FILE_LINES_MAX = 400;

const nameOf = (path: string): string => path.split("/").at(-1)?.split(".")[0] ?? "";
/** Comments may speak of anything. */
const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");

export const HOUSE_RULES: readonly HouseRule[] = [
  {
    name: "name-says-what",
    message: "a file is named by what it holds, not utils, helpers or common",
    applies: () => true,
    broken: ({ path }) => /(?:^|-)(?:utils?|helpers?|commons?)$/.test(nameOf(path)),
  },
  {
    name: "no-default-export",
    message: "export by name",
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
    message: `more than ${FILE_LINES_MAX} lines: split it by what it holds`,
    applies: (path) => !isTest(path),
    broken: ({ text }) => text.trimEnd().split("\n").length > FILE_LINES_MAX,
  },
  {
    name: "no-environment-in-services",
    message: "services are handed what they need and never read process.env",
    applies: (path) =>
      /^lib\/(?:workflows|documents|collaboration|events|http)\//.test(path) && !isTest(path),
    broken: ({ text }) => /\bprocess\.env\b/.test(withoutComments(text)),
  },
  {
    name: "no-scans",
    message: "give the table a key for what is read: migrations alone read a table from end to end",
    applies: (path) =>
      /^(?:lib|functions)\//.test(path) && !/^lib\/(?:upgrades|platform)\//.test(path) && !isTest(path),
    broken: ({ text }) => /\btables\s*\.\s*scan\b/.test(withoutComments(text)),
  },
];

/** What the house's own rules find. */
export function checkHouse(sources: readonly Source[]): Finding[] {
  return sources.flatMap((source) =>
    HOUSE_RULES.filter((rule) => rule.applies(source.path) && rule.broken(source)).map((rule) => ({
      path: source.path,
      rule: rule.name,
      message: rule.message,
    })),
  );
}
