import { section, WeftCommand } from "./command.ts";
import { assets } from "./commands/assets.ts";
import { collaboration } from "./commands/collaboration.ts";
import { completion } from "./commands/completion.ts";
import { deadLetters } from "./commands/dead-letters.ts";
import { doctor } from "./commands/doctor.ts";
import { emit } from "./commands/emit.ts";
import { events } from "./commands/events.ts";
import { functions } from "./commands/functions.ts";
import { help } from "./commands/help.ts";
import { loginLink } from "./commands/login-link.ts";
import { logs } from "./commands/logs.ts";
import { open } from "./commands/open.ts";
import { run } from "./commands/run.ts";
import { runs } from "./commands/runs.ts";
import { schedules } from "./commands/schedules.ts";
import { start } from "./commands/start.ts";
import { token } from "./commands/token.ts";
import { upgrade } from "./commands/upgrade.ts";
import { validate } from "./commands/validate.ts";
import { version, versionText } from "./commands/version.ts";
import { worker } from "./commands/worker.ts";
import { workflows } from "./commands/workflows.ts";

/** In the order of the help; shell completion and docs/cli.md are generated from them too. */
const COMMANDS = [
  start,
  open,
  run,
  validate,
  workflows,
  runs,
  logs,
  emit,
  events,
  schedules,
  assets,
  functions,
  worker,
  collaboration,
  token,
  loginLink,
  deadLetters,
  doctor,
  upgrade,
  completion,
  help,
  version,
];

export const program = new WeftCommand("weft")
  .description("Workflow automation and collaborative documents on one event bus")
  .usage("<command> [options]")
  // `-v` is an option of `weft` itself, not of its commands.
  .enablePositionalOptions()
  .version(versionText(), "-v, --version", "Print the versions of Weft and Node")
  .exits("0", "success")
  .exits("1", "failure; standard error has the reason")
  .exits("2", "invalid command line")
  .exits("130", "cancelled");

for (const command of COMMANDS) program.addCommand(command);

program.addHelpText("after", () =>
  section(program.createHelp(), "Environment:", [
    ["WEFT_URL", "URL of the server, such as http://127.0.0.1:3000"],
    ["WEFT_DATA_DIR", "data folder (default: ./.weft)"],
    ["WEFT_ACCESS_TOKEN", "access token (default: the data folder's)"],
    ["PORT, HOST", "where the server listens (default: 3000 on 127.0.0.1)"],
    ["NO_COLOR", "any value: print no colors"],
    ["WEFT_DEBUG", "any value: print the stack trace of internal errors"],
  ]),
);
program.addHelpText("after", "\n`weft help <command>` shows the options of a command, and examples.");
