import { StepFailedError } from "../engine/step-failure.ts";
import { shellQuote } from "../expressions/shell-quote.ts";

/*
 * The launcher runs a command on another machine. It is the same shell program for every command, so that the
 * command's text is never part of the command line. It reads the length of the command's text, the token and the text
 * from its standard input, and starts the text in its own session with an empty standard input. The launcher's
 * standard input stays open while the command may run. When it closes, because the step is finished, Weft was killed
 * or the network failed, the launcher kills the session, and processes that left the session but still have the token.
 * `printf` passes the text through a pipe, since an argument is limited to 128 KiB.
 *
 * It contains no quotes, line breaks or exclamation marks, so that all kinds of login shells read it as one word.
 */
const RUN_TEXT = 'eval \\"exec </dev/null; \\$(cat)\\"';
const LAUNCHER = [
  "exec 3<&0;",
  "IFS= read -r n && IFS= read -r t || exit 125;",
  's=$(head -c "$n");',
  // Kills all processes with the token, several times, since they may fork meanwhile.
  "k() { for i in 1 2 3; do p=;",
  'for f in $(grep -lszxF "WEFT_STEP_TOKEN=$t" /proc/[0-9]*/environ); do f=${f#/proc/}; p="$p ${f%/environ}"; done;',
  '[ -n "$p" ] || return 0; kill -KILL $p; done; };',
  "if command -v setsid >/dev/null 2>&1;",
  `then printf %s "$s" | WEFT_STEP_TOKEN="$t" setsid "$0" -c "${RUN_TEXT}" 3<&- & c=$!;`,
  // Without setsid, job control gives the command its own process group.
  'else set -m; (export WEFT_STEP_TOKEN="$t"; exec </dev/null 3<&-; eval "$s") & c=$!; fi;',
  "{ IFS= read -r x <&3; kill -KILL -$c; k; } >/dev/null 2>&1 & w=$!;",
  "wait $c 2>/dev/null; r=$?;",
  "{ kill -KILL $w; kill -KILL -$c; k; } >/dev/null 2>&1;",
  "exit $r",
].join(" ");
const CHOOSE_SHELL = 'command -v bash >/dev/null 2>&1 && exec bash -c "$0" bash; exec sh -c "$0" sh';

/** Program and arguments that start the launcher. */
export const LAUNCH: readonly string[] = ["sh", "-c", CHOOSE_SHELL, LAUNCHER];
/** The same command as a line for any login shell. */
export const LAUNCH_LINE = `exec sh -c '${CHOOSE_SHELL}' '${LAUNCHER}'`;

/** Larger variables are not exported: Linux allows at most 128 KiB in one environment string. */
const EXPORTED_MAX_BYTES = 96 * 1024;
/** Maximum total size of the environment, bytes; Linux allows 2 MiB including arguments. */
const EXPORTED_TOTAL_BYTES = 1024 * 1024;
/** Maximum size of one command with all its values, bytes. */
const INPUT_MAX_BYTES = 32 * 1024 * 1024;

/**
 * The launcher's input: values are assigned as quoted text before the script that expands them, so that they are never
 * syntax. Throws StepFailedError if a value contains a NUL or the input is too large.
 */
export function launcherInput(command: {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string | undefined;
  readonly token: string;
}): Buffer {
  const lines: string[] = [];
  let exported = 0;
  for (const [name, value] of Object.entries(command.env)) {
    const bytes = Buffer.byteLength(value);
    const fits = bytes <= EXPORTED_MAX_BYTES && exported + bytes <= EXPORTED_TOTAL_BYTES;
    if (fits) exported += bytes;
    lines.push(`${fits ? "export " : ""}${name}=${shellQuote(value)}`);
  }
  const { workdir } = command;
  if (workdir !== undefined) lines.push(`CDPATH= cd -- ${shellQuote(workdir)} || exit`);
  const text = Buffer.from([...lines, command.script].join("\n"));
  if (text.includes(0)) throw new StepFailedError("a remote command must not contain a NUL");
  if (text.length > INPUT_MAX_BYTES)
    throw new StepFailedError(`the command and its values have more than ${INPUT_MAX_BYTES} bytes`);
  return Buffer.concat([Buffer.from(`${text.length}\n${command.token}\n`), text]);
}

/** Kills the processes of commands whose tokens have one of these prefixes, if they are still running. */
export function killScript(tokenStarts: readonly string[]): string {
  const wanted = tokenStarts.map((start) => `-e ${shellQuote(`WEFT_STEP_TOKEN=${start}`)}`).join(" ");
  return `for f in $(grep -lszF ${wanted} /proc/[0-9]*/environ); do f=\${f#/proc/}; kill -KILL "\${f%/environ}"; done 2>/dev/null; :`;
}
