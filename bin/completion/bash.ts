import type { Option } from "commander";
import { flagsOf, optionsOf, type WeftCommand } from "../command.ts";

/** A completion script for bash, which completes everything else as a file name. */
export function bashCompletion({ commands }: WeftCommand): string {
  const names = commands.map((each) => each.name());
  const branches = (wordsOf: (command: WeftCommand) => readonly string[]): string =>
    commands.map((each) => `    ${each.name()}) words="${wordsOf(each).join(" ")}" ;;`).join("\n");
  return `# weft completion bash
_weft() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names.join(" ")}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${commands.flatMap(valueBranches).join("\n")}
  esac
  if [[ $current == -* ]]; then
    case "\${COMP_WORDS[1]}" in
${branches((command) => optionsOf(command).flatMap(flagsOf))}
    esac
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case "\${COMP_WORDS[1]}" in
${branches((command) => (command.name() === "help" ? names : subcommandNames(command)))}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _weft weft
`;
}

const subcommandNames = ({ commands }: WeftCommand): string[] => commands.map((each) => each.name());

/** Branches that complete the value of an option. */
function valueBranches(command: WeftCommand): string[] {
  return optionsOf(command)
    .filter((option) => option.required)
    .map((option) => {
      const patterns = flagsOf(option).map((flag) => `"${command.name()} ${flag}"`);
      return `    ${patterns.join(" | ")}) ${valueReply(option)}return ;;`;
    });
}

function valueReply({ argChoices, flags }: Option): string {
  if (argChoices !== undefined) return `COMPREPLY=($(compgen -W "${argChoices.join(" ")}" -- "$current")); `;
  return flags.includes("<folder>") ? `COMPREPLY=($(compgen -d -- "$current")); ` : "";
}
