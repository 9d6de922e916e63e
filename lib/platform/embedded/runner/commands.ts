/**
 * The command runner: the parent process of commands, so that commands that attack their parent do not reach the
 * server.
 */
import type { CommandOutcome, CommandRequest } from "../../commands.ts";
import { FileCommands } from "./file-commands.ts";
import { Leftovers } from "./leftovers.ts";
import { readPassedEnv, serveRequests, serverLog } from "./serve.ts";
import { Watchdog } from "./watchdog.ts";

const baseEnv = readPassedEnv();
const watchdog = new Watchdog(baseEnv, serverLog);
const leftovers = new Leftovers(
  (count) => serverLog.warn("ended leftover processes of a step", { count }),
  watchdog,
);
const [shellsMax] = process.argv.slice(2);
const commands = new FileCommands(baseEnv, { leftovers, watchdog }, serverLog, Number(shellsMax));

serveRequests<Omit<CommandRequest, "signal">, CommandOutcome>({
  run: (request, signal) => commands.run({ ...request, signal }),
  end: () => commands.close(),
});
