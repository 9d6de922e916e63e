import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Deps } from "./deps.ts";
import { themeReader } from "./documents/configuration/theme.ts";
import { DocumentLists } from "./documents/lists/list-cache.ts";
import { withAccessTokens } from "./documents/users/authenticate.ts";
import { userDirectory } from "./documents/users/directory.ts";
import { EVENT_INDEX } from "./events/log/table.ts";
import { memoryThrottle } from "./http/throttle.ts";
import { openNetwork } from "./network/network.ts";
import type { Log } from "./platform/log.ts";
import { type Mailer, noMailer } from "./platform/mail.ts";
import type { MailSender } from "./platform/mail-message.ts";
import type { Ports } from "./platform/ports.ts";
import { PRODUCT_VERSION } from "./platform/product-version.ts";
import { smtpMailer } from "./platform/smtp.ts";
import { RankedIndex } from "./ranked-index/ranked-index.ts";
import type { Config } from "./settings/config.ts";
import { noteLastFailure } from "./workflows/dead-letters/letters.ts";
import { readInstallation } from "./workflows/installation/installation.ts";
import { listIndexes } from "./workflows/lists/list.ts";
import { numbers } from "./workflows/lists/number-sequence.ts";
import { recordDeps } from "./workflows/records/deps.ts";
import { recordEffects } from "./workflows/records/effects.ts";
import { runBudget } from "./workflows/runs/run-budget.ts";
import { runSlots } from "./workflows/runs/slots.ts";
import { stepActivity } from "./workflows/steps/activity.ts";
import { catalogReader } from "./workflows/store/catalog.ts";
import { cachedDefinitions } from "./workflows/store/store.ts";
import { rateBreaker } from "./workflows/triggers/breaker.ts";
import { triggerMatcher } from "./workflows/triggers/matcher.ts";
import { SHARED_WORKSPACES_DIR } from "./workflows/workspaces/paths.ts";

/** Puts the services together over the ports of a platform. */
export function composeDeps(
  ports: Ports,
  config: Config,
  own: Pick<
    Deps,
    | "auth"
    | "paths"
    | "isStarted"
    | "queueNames"
    | "queueNamePrefix"
    | "storage"
    | "sharesWorkspaces"
    | "workspaceSync"
    | "remote"
    | "converter"
  > & {
    /** Takes mails where no mail server is set up. */
    readonly layMails?: (from: MailSender) => Mailer;
  },
): Deps {
  const catalog = catalogReader(ports);
  const records = recordDeps(ports);
  const breaker = rateBreaker(ports, config.triggerFiresPerMinute);
  const budget = runBudget(ports, config.runsPerRootCauseMax);
  const workspacesDir = own.sharesWorkspaces ? SHARED_WORKSPACES_DIR : own.paths.workspacesDir;
  const base = {
    ...ports,
    ...own,
    auth: withAccessTokens(own.auth, ports, config.oidc),
    ...records,
    catalog,
    definitions: cachedDefinitions(ports),
    eventIndex: new RankedIndex(ports, EVENT_INDEX),
    lists: listIndexes(ports),
    matcher: triggerMatcher({ ...ports, workspacesDir }, catalog, breaker, {
      enabled: config.receiverEnabled,
      budget,
    }),
    breaker,
    runBudget: budget,
    stepActivity: stepActivity(ports.clock),
    effects: recordEffects(records),
    runNumbers: numbers(ports, "runs"),
    workspacesDir,
    installation: readInstallation(own.paths.workspacesDir, {
      version: PRODUCT_VERSION,
      isShared: own.sharesWorkspaces,
      onAws: config.platform === "aws",
      environment: process.env,
    }),
    watchRoots: config.watchRoots,
    runSlots: runSlots(ports, config.maxConcurrentRuns),
    shell: findShell(ports.log),
    receiverEnabled: config.receiverEnabled,
    undefinedNames: config.undefinedNames,
    retention: config.retention,
    documents: config.documents,
    userDirectory: userDirectory(ports),
    theme: themeReader(ports, config.documents.theme),
    throttle: memoryThrottle({
      clock: ports.clock,
      rates: config.documents.throttles,
      // The collaboration server reads documents for all users.
      exemption:
        config.documents.yProviderApiKey === undefined
          ? undefined
          : { scope: "document", header: "x-y-provider-key", key: config.documents.yProviderApiKey },
    }),
    publicUrl: config.publicUrl,
    mail: openMailer(ports, config.mail, own.layMails),
    letterhead: config.mail.letterhead,
    documentLists: new DocumentLists(),
    network: openNetwork(config.network),
    llm: config.llm,
  };
  return {
    ...base,
    noteLastFailure: (failure) => noteLastFailure(base, failure),
  };
}

function openMailer(
  { secrets, log }: Ports,
  { smtp, from, letterhead }: Config["mail"],
  layMails: ((from: MailSender) => Mailer) | undefined,
): Mailer {
  const sender = { name: letterhead.brandName, address: from };
  if (smtp !== undefined) return smtpMailer(smtp, sender, () => secrets.get("DJANGO_EMAIL_HOST_PASSWORD"));
  return layMails?.(sender) ?? noMailer(log);
}

export function findShell(log: Log): string {
  const folders = (process.env["PATH"] ?? "/usr/bin:/bin").split(":");
  if (folders.some((folder) => folder !== "" && existsSync(join(folder, "bash")))) return "bash";
  log.warn("no bash found: bash steps are run by sh");
  return "sh";
}
