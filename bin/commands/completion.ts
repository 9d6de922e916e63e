import { suggestion } from "../../lib/suggestion.ts";
import { type Command, UsageError } from "../command.ts";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";

const SHELLS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `weft completion`: what a shell has to know to complete commands. */
export function completion(all: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: "Prints a script by which a shell completes commands, actions and flags",
    usage: "<bash | zsh | fish>",
    actions: {
      bash: { takes: "", summary: "For bash" },
      zsh: { takes: "", summary: "For zsh" },
      fish: { takes: "", summary: "For fish" },
    },
    flags: {},
    examples: [
      ["source <(weft completion bash)", "in this shell; in ~/.bashrc for every one"],
      [`weft completion zsh > "\${fpath[1]}/_weft"`, "from the next zsh on"],
      ["weft completion fish > ~/.config/fish/completions/weft.fish", "from the next fish on"],
    ],
    run: async ({ positionals: [shell, ...more] }, terminal) => {
      if (shell === undefined) throw new UsageError("completion takes bash, zsh or fish.");
      if (more.length > 0) throw new UsageError(`'${more[0]}' is one word too many.`);
      const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
      if (script === undefined) {
        const near = suggestion(shell, Object.keys(SHELLS));
        throw new UsageError(`There is no completion for '${shell}': bash, zsh or fish.${near}`);
      }
      terminal.out(script(all()));
    },
  };
}
