import { suggestion } from "../lib/suggestion.ts";
import { type ActionText, type Arguments, type Command, type Terminal, UsageError } from "./command.ts";

/** One thing that a command does, named by the word after it. */
export interface Action extends ActionText {
  /** `words` are what stands after the action's name. */
  run(words: readonly string[], args: Arguments, terminal: Terminal): Promise<void>;
}

type Actions = Readonly<Record<string, Action>>;

/** A command of actions; the first of them is meant where none is named. */
export function withActions(
  command: Pick<Command, "name" | "summary" | "flags" | "examples"> & { readonly actions: Actions },
): Command {
  const { actions, flags } = command;
  const names = Object.keys(actions);
  const [first = ""] = names;
  return {
    ...command,
    usage: `[${names.map((name) => `${name} ${actions[name]?.takes ?? ""}`.trimEnd()).join(" | ")}]`,
    run: async (args, terminal) => {
      const [name = first, ...words] = args.positionals;
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      if (action === undefined) {
        const meant = suggestion(name, names);
        throw new UsageError(`${command.name} cannot '${name}': ${names.join(", ")}.${meant}`);
      }
      for (const flag of Object.keys(args.flags)) {
        const of = flags[flag]?.of;
        if (of !== undefined && !of.includes(name))
          throw new UsageError(`--${flag} goes with ${of.join(", ")}.`);
      }
      checkWords(`${command.name} ${name}`, action.takes, words);
      await action.run(words, args, terminal);
    },
  };
}

/** `takes` says how many words there may be: `<must>`, `[may]`, `...` any number. Throws UsageError. */
export function checkWords(name: string, takes: string, words: readonly string[]): void {
  const wanted = takes.split(" ").filter((word) => word !== "");
  const needed = wanted.filter((word) => word.startsWith("<"));
  const missing = needed[words.length];
  if (missing !== undefined) throw new UsageError(`${name} takes ${takes}: ${missing} is missing.`);
  if (words.length > wanted.length && !takes.endsWith("..."))
    throw new UsageError(`'${words[wanted.length]}' is one word too many.`);
}
