import type { Option } from "commander";
import { flagsOf, optionsOf, type WeftCommand } from "../command.ts";

/** A completion script for zsh, to be sourced or stored in a folder of $fpath. */
export function zshCompletion({ commands }: WeftCommand): string {
  return `#compdef weft
_weft() {
  local -a commands=(
${commands.map((each) => `    ${quote(`${each.name()}:${each.description()}`)}`).join("\n")}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case "\${words[1]}" in
${commands.map((each) => `    ${each.name()}) _arguments ${argumentSpecs(each)} ;;`).join("\n")}
  esac
}
if [ "\${funcstack[1]}" = _weft ]; then _weft "$@"; else compdef _weft weft; fi
`;
}

function argumentSpecs(command: WeftCommand): string {
  const options = optionsOf(command).flatMap((option) => {
    const repeated = option.description.includes("can be repeated") ? "*" : "";
    return flagsOf(option).map((flag) =>
      quote(`${repeated}${flag}[${escapeSpec(option.description)}]${valueSpec(option)}`),
    );
  });
  const names = command.commands.map((each) => each.name());
  const words = names.length === 0 ? [] : [quote(`1:command:(${names.join(" ")})`)];
  return [...options, ...words, quote("*:file:_files")].join(" ");
}

function valueSpec({ required, flags, argChoices }: Option): string {
  if (!required) return "";
  const [, name = "value"] = /<(.*)>/.exec(flags) ?? [];
  if (argChoices !== undefined) return `:${name}:(${argChoices.join(" ")})`;
  if (name === "folder") return `:${name}:_files -/`;
  return name === "file" ? `:${name}:_files` : `:${escapeSpec(name)}: `;
}

const escapeSpec = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&");
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
