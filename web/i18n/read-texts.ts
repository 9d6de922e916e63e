import type { TextGroup } from "./texts.ts";

/* The English texts of the shell are in its script. */
const FILES = import.meta.glob<{ readonly default: object }>(["./*/*.json", "!./en/shell.json"]);

/** The texts of a group in a language; undefined if they are not in a file of their own. */
export const readTexts = async (language: string, group: TextGroup): Promise<object | undefined> =>
  (await FILES[`./${language}/${group}.json`]?.())?.default;
