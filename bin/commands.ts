import type { Command } from "./command.ts";
import { assets } from "./commands/assets.ts";
import { completion } from "./commands/completion.ts";
import { deadLetters } from "./commands/dead-letters.ts";
import { doctor } from "./commands/doctor.ts";
import { emit } from "./commands/emit.ts";
import { events } from "./commands/events.ts";
import { functions } from "./commands/functions.ts";
import { help } from "./commands/help.ts";
import { logs } from "./commands/logs.ts";
import { run } from "./commands/run.ts";
import { runs } from "./commands/runs.ts";
import { schedules } from "./commands/schedules.ts";
import { start } from "./commands/start.ts";
import { token } from "./commands/token.ts";
import { upgrade } from "./commands/upgrade.ts";
import { validate } from "./commands/validate.ts";
import { version } from "./commands/version.ts";
import { worker } from "./commands/worker.ts";
import { workflows } from "./commands/workflows.ts";

/** All commands, in the order of the help: it, the completion of shells and docs/cli.md come from here. */
export const commands: readonly Command[] = [
  start,
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
  token,
  deadLetters,
  doctor,
  upgrade,
  completion(() => commands),
  help(() => commands),
  version,
];
