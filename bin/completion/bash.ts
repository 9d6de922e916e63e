import { type Command, type Flag, flagsOf } from "../command.ts";

/** A script for bash. What it has no word for is completed as a file. */
export function bashCompletion(commands: readonly Command[]): string {
  const arms = (of: (command: Command) => string): string =>
    commands.map((command) => `    ${command.name}) words="${of(command)}" ;;`).join("\n");
  return `# weft completion bash
_weft() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${commands.flatMap(valueArms).join("\n")}
  esac
  if [[ $current == -* ]]; then
    case "\${COMP_WORDS[1]}" in
${arms(flagWords)}
    esac
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case "\${COMP_WORDS[1]}" in
${arms(({ name, actions = {} }) => (name === "help" ? commands.map((each) => each.name) : Object.keys(actions)).join(" "))}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _weft weft
`;
}

const flagWords = (command: Command): string =>
  Object.entries(flagsOf(command))
    .flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])])
    .join(" ");

/** What may stand after a flag that takes a value. */
function valueArms(command: Command): string[] {
  return Object.entries(flagsOf(command)).flatMap(([name, flag]) => {
    const { type, short } = flag;
    if (type === "boolean") return [];
    const written = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
    const pattern = written.map((each) => `"${command.name} ${each}"`).join(" | ");
    return [`    ${pattern}) ${answer(flag)}return ;;`];
  });
}

function answer({ choices, value }: Flag): string {
  if (choices !== undefined) return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current")); `;
  return value === "FOLDER" ? `COMPREPLY=($(compgen -d -- "$current")); ` : "";
}
