import { suggestionOrList, WeftCommand } from "../command.ts";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";
import { UsageError } from "../errors.ts";
import { terminal } from "../terminal.ts";

const SCRIPTS: Readonly<Record<string, (program: WeftCommand) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};
const SHELLS = Object.keys(SCRIPTS);

export const completion = new WeftCommand("completion")
  .description("Print a script that completes commands, subcommands and options in a shell")
  .argument("<shell>", SHELLS.join(", "))
  .example("source <(weft completion bash)", "in this shell; add it to ~/.bashrc for every shell")
  .example(`weft completion zsh > "\${fpath[1]}/_weft"`, "in new zsh shells")
  .example("weft completion fish > ~/.config/fish/completions/weft.fish", "in new fish shells")
  .action((shell: string, _options, command: WeftCommand) => {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined)
      throw new UsageError(`There is no completion for '${shell}'.${suggestionOrList(shell, SHELLS)}`);
    terminal.out(script(command.parent as WeftCommand));
  });
