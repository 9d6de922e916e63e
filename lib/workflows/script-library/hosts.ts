/** Functions that run commands on other hosts. Reference 3, ssh. */

import { textOf } from "./argument-values.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

export const hostFunctions = {
  ssh_exec: {
    group: "ssh",
    params: ["host", "command", "user?", "key_path?", "password?", "port?"],
    returns: "string",
    summary:
      "The output of a command on a host, with the rules of remote-bash steps: a known host, a key of REMOTE_KEYS_DIR; empty if it fails",
    example: 'ssh_exec("10.0.0.5", "uptime", "deploy", "deploy.key")',
    failure: "",
    run: ([host, command, user, key_path, password, port], context: FunctionContext) => {
      if (textOf(host).trim() === "" || textOf(command).trim() === "")
        throw new Error("a host and a command are required");
      const asked = { host, command, user, key_path, password, port };
      return context.ask(
        "ssh",
        Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, textOf(value)])),
      );
    },
  },
} satisfies Record<string, LibraryFunction>;
