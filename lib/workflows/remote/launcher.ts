import { StepFailed } from "../engine/step-failure.ts";
import { shellQuote } from "../expressions/shell-quote.ts";

/*
 * What runs a command on another machine: a shell program that is the same for every command, so that nothing of a
 * command is ever text of the line that starts it. It reads the length of the command's text, the token and the
 * text from its standard input, and starts the text in a session of its own with an empty standard input. Its own
 * standard input stays open as long as the command is wanted. When it ends, because the step is over, because Weft was
 * killed or because the network was cut off, the command's session is killed, and with it whatever left the session
 * and still carries the token. The text goes by `printf` through a pipe: an argument has at most 128 KiB.
 *
 * No quotes, line breaks and exclamation marks in it: login shells of all kinds have to read it as one word.
 */
const RUN_TEXT = 'eval \\"exec </dev/null; \\$(cat)\\"';
const LAUNCHER = [
  "exec 3<&0;",
  "IFS= read -r n && IFS= read -r t || exit 125;",
  's=$(head -c "$n");',
  // Kills whoever carries the token; what forks meanwhile is met again.
  "k() { for i in 1 2 3; do p=;",
  'for f in $(grep -lszxF "WEFT_STEP_TOKEN=$t" /proc/[0-9]*/environ); do f=${f#/proc/}; p="$p ${f%/environ}"; done;',
  '[ -n "$p" ] || return 0; kill -KILL $p; done; };',
  "if command -v setsid >/dev/null 2>&1;",
  `then printf %s "$s" | WEFT_STEP_TOKEN="$t" setsid "$0" -c "${RUN_TEXT}" 3<&- & c=$!;`,
  // Without it, job control gives the command a process group of its own.
  'else set -m; (export WEFT_STEP_TOKEN="$t"; exec </dev/null 3<&-; eval "$s") & c=$!; fi;',
  "{ IFS= read -r x <&3; kill -KILL -$c; k; } >/dev/null 2>&1 & w=$!;",
  "wait $c 2>/dev/null; r=$?;",
  "{ kill -KILL $w; kill -KILL -$c; k; } >/dev/null 2>&1;",
  "exit $r",
].join(" ");
const CHOOSE_SHELL = 'command -v bash >/dev/null 2>&1 && exec bash -c "$0" bash; exec sh -c "$0" sh';

/** Program and arguments that start the launcher. */
export const LAUNCH: readonly string[] = ["sh", "-c", CHOOSE_SHELL, LAUNCHER];
/** The same as a line for a login shell of any kind. */
export const LAUNCH_LINE = `exec sh -c '${CHOOSE_SHELL}' '${LAUNCHER}'`;

/** Larger variables stay in the shell: the kernel takes at most 128 KiB in one string of an environment. */
const EXPORTED_MAX_BYTES = 96 * 1024;
/** All variables of the environment together, bytes; the kernel takes 2 MiB with the arguments. */
const EXPORTED_TOTAL_BYTES = 1024 * 1024;
/** Of one command with all its values, bytes. */
const INPUT_MAX_BYTES = 32 * 1024 * 1024;

/**
 * What the launcher reads: values go as quoted text before the script that names them, so that they are never its
 * syntax. Throws StepFailed where a value has a NUL or the whole is too large.
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
  if (text.includes(0)) throw new StepFailed("a command of another machine cannot hold a NUL");
  if (text.length > INPUT_MAX_BYTES)
    throw new StepFailed(`the command and its values have more than ${INPUT_MAX_BYTES} bytes`);
  return Buffer.concat([Buffer.from(`${text.length}\n${command.token}\n`), text]);
}

/** Ends the processes of commands whose tokens begin so, on a machine that such commands may have outlived. */
export function killScript(tokenStarts: readonly string[]): string {
  const wanted = tokenStarts.map((start) => `-e ${shellQuote(`WEFT_STEP_TOKEN=${start}`)}`).join(" ");
  return `for f in $(grep -lszF ${wanted} /proc/[0-9]*/environ); do f=\${f#/proc/}; kill -KILL "\${f%/environ}"; done 2>/dev/null; :`;
}
