/** The script runner: evaluates scripts for the server, and ends them and their commands when the server is gone. */
import type { ScriptMessage, ScriptReply } from "../../scripts/script-messages.ts";
import type { ScriptPool } from "../../scripts/script-pool.ts";
import { Leftovers } from "./leftovers.ts";
import { Processes } from "./processes.ts";
import { openScriptPool } from "./scripts.ts";
import { readPassedEnv, serveRequests, serverLog } from "./serve.ts";
import { Watchdog } from "./watchdog.ts";

const [functionsModule = ""] = process.argv.slice(2);
const baseEnv = readPassedEnv();
const watchdog = new Watchdog(baseEnv, serverLog);
const leftovers = new Leftovers(
  (count) => serverLog.warn("ended leftover processes of a script", { count }),
  watchdog,
);
const processes = new Processes(leftovers, watchdog);
let pool: Promise<ScriptPool> | undefined;

serveRequests<ScriptMessage, ScriptReply>({
  run: async (request, signal, ask) => {
    pool ??= openScriptPool(new URL(functionsModule), processes);
    return (await pool).run({ ...request, env: { ...baseEnv, ...request.env } }, signal, ask);
  },
  end: () => processes.endAll(),
});
