import { checkWords } from "../actions.ts";
import { type Command, JSON_FLAG, textFlag } from "../command.ts";
import { DATA_DIR_FLAG, findToken } from "../connection.ts";

/** `weft token`: the access token of the installation. */
export const token: Command = {
  name: "token",
  summary: "Prints the access token",
  usage: "[--data-dir FOLDER] [--json]",
  flags: { "data-dir": DATA_DIR_FLAG, json: JSON_FLAG },
  examples: [
    ["weft token", "prints it alone on a line"],
    [
      'curl -H "Authorization: Bearer $(npx weft token)" http://127.0.0.1:3000/automation/event-logs',
      "uses it",
    ],
  ],
  run: async (args, terminal) => {
    checkWords("token", "", args.positionals);
    const found = findToken(terminal.env, textFlag(args, "data-dir"));
    terminal.out(args.flags.json === true ? `${JSON.stringify(found)}\n` : `${found.token}\n`);
  },
};
