import { readFileSync } from "node:fs";
import { checkWords } from "../actions.ts";
import { type Command, JSON_FLAG } from "../command.ts";

/** `weft version` */
export const version: Command = {
  name: "version",
  summary: "Prints the versions of Weft and of Node",
  usage: "[--json]",
  flags: { json: JSON_FLAG },
  examples: [["weft version --json", "for scripts"]],
  run: async ({ flags, positionals }, terminal) => {
    checkWords("version", "", positionals);
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version: weft } = JSON.parse(manifest) as { version: string };
    const node = process.versions.node;
    terminal.out(
      flags.json === true ? `${JSON.stringify({ weft, node })}\n` : `weft ${weft} (node ${node})\n`,
    );
  },
};
