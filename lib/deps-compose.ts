import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Deps } from "./deps.ts";
import { withAccessTokens } from "./documents/users/authenticate.ts";
import { EVENT_INDEX } from "./events/log/table.ts";
import type { Config } from "./platform/config.ts";
import type { Log } from "./platform/log.ts";
import type { Ports } from "./platform/ports.ts";
import { RankedIndex } from "./ranked-index/ranked-index.ts";
import { noteLastFailure } from "./workflow/dead-letters/letters.ts";
import { cachedDefinitions } from "./workflow/definitions/store.ts";
import { listIndexes } from "./workflow/lists/list.ts";
import { openNetwork } from "./workflow/network/network.ts";
import { recordDeps } from "./workflow/records/deps.ts";
import { recordEffects } from "./workflow/records/effects.ts";
import { numbers } from "./workflow/runs/numbers.ts";
import { runSlots } from "./workflow/runs/slots.ts";
import { rateBreaker } from "./workflow/triggers/breaker.ts";
import { catalogReader, triggerMatcher } from "./workflow/triggers/matcher.ts";
import { SHARED_WORKSPACES_DIR } from "./workflow/workspaces/paths.ts";

/** Puts the services together over the ports of a platform. */
export function composeDeps(
  ports: Ports,
  config: Config,
  own: Pick<
    Deps,
    "auth" | "paths" | "queueNames" | "queueNamePrefix" | "sharesWorkspaces" | "workspaceSync" | "remote"
  >,
): Deps {
  const catalog = catalogReader(ports);
  const records = recordDeps(ports);
  const breaker = rateBreaker(ports, config.triggerFiresPerMinute);
  const workspacesDir = own.sharesWorkspaces ? SHARED_WORKSPACES_DIR : own.paths.workspacesDir;
  const base = {
    ...ports,
    ...own,
    auth: withAccessTokens(own.auth, ports),
    ...records,
    catalog,
    definitions: cachedDefinitions(ports),
    eventIndex: new RankedIndex(ports, EVENT_INDEX),
    lists: listIndexes(ports),
    matcher: triggerMatcher({ ...ports, workspacesDir }, catalog, breaker, config.receiverEnabled),
    breaker,
    effects: recordEffects(records),
    runNumbers: numbers(ports, "runs"),
    workspacesDir,
    watchRoots: config.watchRoots,
    runSlots: runSlots(ports, config.runsAtOnce),
    shell: findShell(ports.log),
    receiverEnabled: config.receiverEnabled,
    retention: config.retention,
    documents: config.documents,
    network: openNetwork(config.network),
    llm: config.llm,
  };
  return {
    ...base,
    answerDocuments: async (question, by) =>
      (await import("./documents/asked/answer.ts")).answerDocuments(base, question, by),
    noteLastFailure: (failure) => noteLastFailure(base, failure),
  };
}

export function findShell(log: Log): string {
  const folders = (process.env["PATH"] ?? "/usr/bin:/bin").split(":");
  if (folders.some((folder) => folder !== "" && existsSync(join(folder, "bash")))) return "bash";
  log.warn("no bash found: bash steps are run by sh");
  return "sh";
}
