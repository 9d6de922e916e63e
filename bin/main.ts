import { suggestion } from "../lib/suggestion.ts";
import {
  CommandFailure,
  EXIT_FAILURE,
  EXIT_USAGE,
  helpOf,
  readArguments,
  type Terminal,
  UsageError,
} from "./command.ts";
import { commands } from "./commands.ts";

const ALIASES: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-v": "version",
};

async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [word = "help", ...rest] = argv;
  const name = Object.hasOwn(ALIASES, word) ? ALIASES[word] : word;
  const command = commands.find((candidate) => candidate.name === name);
  let written = false;
  const output: Terminal = {
    ...terminal,
    out: (text) => {
      written = true;
      terminal.out(text);
    },
  };
  try {
    if (command === undefined) {
      const kind = word.startsWith("-") ? "flag" : "command";
      const names = commands.map((each) => each.name);
      const near = suggestion(word, names) || ` The commands are: ${names.join(", ")}.`;
      throw new UsageError(`There is no ${kind} '${word}'.${near}`);
    }
    const args = readArguments(command, rest);
    if (args.flags.help === true) output.out(helpOf(command));
    else await command.run(args, output);
    return 0;
  } catch (error) {
    // Who reads JSON finds the reason there as well, where nothing else was written.
    if (command?.flags.json !== undefined && rest.includes("--json") && !written)
      terminal.out(`${JSON.stringify({ error: true, message: messageOf(error) })}\n`);
    if (error instanceof UsageError) {
      terminal.error(`weft: ${error.message}\n`);
      terminal.error(`Try: weft help${command === undefined ? "" : ` ${command.name}`}\n`);
      return EXIT_USAGE;
    }
    if (error instanceof CommandFailure) {
      terminal.error(`weft: ${error.message}\n`);
      if (error.hint !== undefined) terminal.error(`${error.hint}\n`);
      return error.exitCode;
    }
    const stack = error instanceof Error ? error.stack : messageOf(error);
    const shown = terminal.env.WEFT_DEBUG ? stack : `${messageOf(error)} (WEFT_DEBUG=1 shows where)`;
    terminal.error(`weft: this is a fault of its own: ${shown}\n`);
    return EXIT_FAILURE;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// A reader such as `head` may leave before all is written; what is left then goes nowhere.
process.stdout.on("error", () => {});
if (process.env.WEFT_HANDED_OVER !== undefined) {
  // The process that started this one was killed and cannot pass a signal on any more.
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
  delete process.env.WEFT_HANDED_OVER;
}

/** Of the screen; else what the environment says, where it says anything. */
function widthOf({ COLUMNS: given = "" }: Terminal["env"]): number | undefined {
  if (process.stdout.isTTY && process.stdout.columns > 0) return process.stdout.columns;
  return /^[1-9]\d{0,4}$/.test(given) ? Number(given) : undefined;
}

process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  width: widthOf(process.env),
  live: process.stdout.isTTY === true,
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
});
