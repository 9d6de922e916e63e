import { RE2JS } from "re2js";
import { textOf } from "./argument-values.ts";
import { setEnvironment } from "./evaluation.ts";
import { entryOf, outputOf, pathOf, readText, writeLines } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { compilePattern } from "./patterns.ts";

const DOWNLOAD_SECONDS = 600;
const ADDRESS = /^(?:https?|ftp):\/\//i;
/** A host must not begin with a dash: ssh would read it as an option. */
const REPOSITORY = /^(?:(?:https?|ssh|git):\/\/(?![^/]*@-)[\w[]|git@\w[\w.-]*:)\S*$/i;

/**
 * Runs a command whose values are only in its environment, so that they are never syntax. Returns its output. Throws
 * if it fails.
 */
export function runCommand(
  command: string,
  values: Readonly<Record<string, string>>,
  context: FunctionContext,
): string {
  const { failure, stdout } = context.exec(command, { ...setEnvironment(context), ...values });
  if (failure !== undefined) throw new Error(failure);
  return stdout;
}

function interpreter(program: string, flag: string, what: string): LibraryFunction {
  return {
    group: "utility",
    params: ["code"],
    returns: "string",
    summary: `The output of a ${what} program given as text, without leading and trailing white space; empty if it fails`,
    failure: "",
    run: ([code], context) =>
      runCommand(`exec ${program} ${flag} "$CODE"`, { CODE: textOf(code) }, context).trim(),
  };
}

function fileInterpreter(program: string, what: string): LibraryFunction {
  return {
    group: "utility",
    params: ["path"],
    returns: "string",
    summary: `The output of a ${what} file, without leading and trailing white space; empty if it fails`,
    failure: "",
    run: ([path], context) =>
      runCommand(`exec ${program} "$FILE"`, { FILE: pathOf(path, context) }, context).trim(),
  };
}

/** Runs TypeScript with bun, or with a Node that strips types. */
const TYPESCRIPT = '"$(command -v bun || command -v node)"';

function addressOf(url: unknown): string {
  const text = textOf(url);
  if (!ADDRESS.test(text)) throw new Error("the address must be http, https or ftp");
  return text;
}

function repositoryOf(url: unknown): string {
  const text = textOf(url);
  if (!REPOSITORY.test(text)) throw new Error("the URL of the repository is not valid");
  return text;
}

function nameIn(url: string): string {
  return (
    url
      .replace(/[?#].*$/, "")
      .split(/[/:]/)
      .findLast((part) => part !== "" && part !== ".." && part !== ".")
      ?.replace(/\.git$/, "") ?? "download"
  );
}

/** Downloads to a temporary file and renames it, so that the file is never partial. */
const DOWNLOAD = `part="$OUT.$$.part"
if command -v wget >/dev/null; then wget -q -T 60 -t 2 -O "$part" -- "$URL"
else curl -fsSL --connect-timeout 60 --retry 1 -o "$part" -- "$URL"; fi && mv -f -- "$part" "$OUT" || { rm -f -- "$part"; exit 1; }`;

function download(url: unknown, output: unknown, context: FunctionContext): true {
  const address = addressOf(url);
  const target = outputOf(textOf(output) === "" ? nameIn(address) : output, context);
  runCommand(`ulimit -t ${DOWNLOAD_SECONDS}; ${DOWNLOAD}`, { URL: address, OUT: target }, context);
  return true;
}

const CLONE = 'GIT_TERMINAL_PROMPT=0 git clone -q --depth 1 --no-recurse-submodules -- "$URL" "$DEST"';

export interface Substitution {
  readonly pattern: string;
  readonly replacement: string;
  readonly all: boolean;
  readonly anyCase: boolean;
}

/** Parses `s/old/new/flags` with any delimiter; a backslash escapes the delimiter. Throws if it is invalid. */
export function parseSubstitution(text: string): Substitution {
  const delimiter = text.charAt(1);
  if (!text.startsWith("s") || delimiter === "" || /[\w\s\\]/.test(delimiter))
    throw new Error("the substitution must be s/old/new/");
  const parts: string[] = [""];
  for (let index = 2; index < text.length; index += 1) {
    const character = text.charAt(index);
    const next = text.charAt(index + 1);
    if (character === "\\" && next !== "") {
      parts.push(`${parts.pop() ?? ""}${next === delimiter ? next : character + next}`);
      index += 1;
    } else if (character === delimiter) parts.push("");
    else parts.push((parts.pop() ?? "") + character);
  }
  const [pattern = "", replacement, flags, ...more] = parts;
  if (
    replacement === undefined ||
    flags === undefined ||
    more.length > 0 ||
    pattern === "" ||
    !/^[gi]*$/i.test(flags)
  )
    throw new Error("the substitution must be s/old/new/, with g and i as flags");
  return { pattern, replacement, all: flags.includes("g"), anyCase: /i/i.test(flags) };
}

/** The match, one of its groups, or an escaped character. */
const REFERENCE = /\\([\s\S])|&/g;

/** Replaces `&` and `\\1` to `\\9` with the match and its groups, as sed does. */
function patternReplacer(substitution: Substitution): (line: string) => string {
  const { pattern, replacement, anyCase } = substitution;
  const compiled = compilePattern(pattern, anyCase ? RE2JS.CASE_INSENSITIVE : 0);
  const replaced = (...match: unknown[]): string =>
    replacement.replaceAll(REFERENCE, (whole, escaped?: string) => {
      if (whole === "&") return textOf(match[0]);
      return escaped !== undefined && /[1-9]/.test(escaped)
        ? groupOf(match, Number(escaped))
        : (escaped ?? "");
    });
  return (line) => {
    const matcher = compiled.matcher(line);
    return substitution.all ? matcher.replaceAll(replaced) : matcher.replaceFirst(replaced);
  };
}

/** The argument after the groups is the offset of the match, which is a number. */
function groupOf(match: readonly unknown[], number: number): string {
  const group = match[number];
  return typeof group === "string" && match.findIndex((part) => typeof part === "number") > number
    ? group
    : "";
}

/** No character of the replacement is special. */
function textReplacer(substitution: Substitution): (line: string) => string {
  const { pattern, replacement, anyCase } = substitution;
  const compiled = compilePattern(RE2JS.quote(pattern), anyCase ? RE2JS.CASE_INSENSITIVE : 0);
  return (line) => {
    const matcher = compiled.matcher(line);
    return substitution.all ? matcher.replaceAll(() => replacement) : matcher.replaceFirst(() => replacement);
  };
}

function sed(
  toReplace: (substitution: Substitution) => (text: string) => string,
  what: string,
): LibraryFunction {
  return {
    group: "unix_commands",
    params: ["substitution", "source", "dest"],
    returns: "boolean",
    summary: `Writes a file with s/old/new/ applied to each line, where old is ${what}; flags g (all) and i`,
    example: 'sed_string_replace("s|http://|https://|g", "urls.txt", "secure.txt")',
    failure: false,
    run: ([syntax, source, dest], context) => {
      const replace = toReplace(parseSubstitution(textOf(syntax)));
      const lines = readText(source, context).split("\n");
      if (lines.at(-1) === "") lines.pop();
      writeLines(dest, lines.map(replace), context);
      return true;
    },
  };
}

export const programFunctions = {
  exec_python: interpreter("python3", "-c", "Python"),
  exec_python_file: fileInterpreter("python3", "Python"),
  exec_ts: {
    ...interpreter(TYPESCRIPT, "-e", "TypeScript"),
    run: ([code], context: FunctionContext) =>
      runCommand(
        'if command -v bun >/dev/null; then exec bun -e "$CODE"; else exec node --input-type=module-typescript -e "$CODE"; fi',
        { CODE: textOf(code) },
        context,
      ).trim(),
  },
  exec_ts_file: fileInterpreter(TYPESCRIPT, "TypeScript"),
  wget_unix: {
    group: "unix_commands",
    params: ["url", "output?"],
    returns: "boolean",
    summary: "Downloads a file with wget or curl, by default under the last name in the URL's path",
    failure: false,
    run: ([url, output], context: FunctionContext) => download(url, output, context),
  },
  wget: {
    group: "unix_commands",
    params: ["url", "output"],
    returns: "boolean",
    summary: "Same as wget_unix",
    failure: false,
    run: ([url, output], context: FunctionContext) => download(url, output, context),
  },
  git_clone: {
    group: "unix_commands",
    params: ["repository", "dest?"],
    returns: "boolean",
    summary: "Clones the latest state of a git repository into a folder, by default with its name",
    failure: false,
    run: ([url, dest], context: FunctionContext) => {
      const address = repositoryOf(url);
      const folder = outputOf(textOf(dest) === "" ? nameIn(address) : dest, context);
      runCommand(CLONE, { URL: address, DEST: folder }, context);
      return true;
    },
  },
  git_clone_subfolder: {
    group: "unix_commands",
    params: ["repository", "subfolder", "dest"],
    returns: "boolean",
    summary: "Clones a git repository and keeps one of its folders, as dest",
    failure: false,
    run: ([url, subfolder, dest], context: FunctionContext) => {
      const address = repositoryOf(url);
      const inner = textOf(subfolder).replace(/^\/+/, "");
      if (inner === "" || inner.split("/").includes(".."))
        throw new Error("the folder must be in the repository");
      const folder = outputOf(dest, context);
      const draft = entryOf(`${textOf(dest)}.clone`, context);
      const taken = '&& [ -d "$DEST/$INNER" ] && [ ! -L "$DEST/$INNER" ] && mv -T -- "$DEST/$INNER" "$OUT"';
      const command = `rm -rf -- "$DEST"; ${CLONE} ${taken}; ended=$?; rm -rf -- "$DEST"; exit $ended`;
      runCommand(command, { URL: address, DEST: draft, INNER: inner, OUT: folder }, context);
      return true;
    },
  },
  diff_unix: {
    group: "unix_commands",
    params: ["old_file", "new_file", "output?"],
    returns: "string",
    summary: "The output of diff for two files, optionally also written to a file; empty if they are equal",
    failure: "",
    run: ([first, second, output], context: FunctionContext) => {
      const files = { OLD: pathOf(first, context), NEW: pathOf(second, context) };
      const text = runCommand('diff -- "$OLD" "$NEW"; [ $? -lt 2 ]', files, context);
      if (textOf(output) !== "") writeLines(output, text === "" ? [] : text.trimEnd().split("\n"), context);
      return text;
    },
  },
  sed_string_replace: sed(textReplacer, "a text"),
  sed_regex_replace: {
    ...sed(patternReplacer, "a pattern (RE2)"),
    example: 'sed_regex_replace("s/[0-9]+/N/g", "a.txt", "b.txt")',
  },
} satisfies Record<string, LibraryFunction>;
