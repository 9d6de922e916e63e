import { type Command, type Flag, flagsOf } from "../command.ts";

/** A script for zsh, to be sourced or laid into a folder of its functions. */
export function zshCompletion(commands: readonly Command[]): string {
  return `#compdef weft
_weft() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join("\n")}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case "\${words[1]}" in
${commands.map((command) => `    ${command.name}) _arguments ${specs(command)} ;;`).join("\n")}
  esac
}
if [ "\${funcstack[1]}" = _weft ]; then _weft "$@"; else compdef _weft weft; fi
`;
}

function specs(command: Command): string {
  const flags = Object.entries(flagsOf(command)).flatMap(([name, flag]) =>
    [`--${name}`, ...(flag.short === undefined ? [] : [`-${flag.short}`])].map((written) =>
      quoted(`${flag.multiple === true ? "*" : ""}${written}[${escaped(flag.summary)}]${valueSpec(flag)}`),
    ),
  );
  const actions = Object.keys(command.actions ?? {});
  const words = actions.length === 0 ? [] : [quoted(`1:action:(${actions.join(" ")})`)];
  return [...flags, ...words, quoted("*:file:_files")].join(" ");
}

function valueSpec({ type, value = "VALUE", choices }: Flag): string {
  if (type === "boolean") return "";
  if (choices !== undefined) return `:${value}:(${choices.join(" ")})`;
  if (value === "FOLDER") return `:${value}:_files -/`;
  return value === "FILE" ? `:${value}:_files` : `:${value}: `;
}

const escaped = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&");
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
