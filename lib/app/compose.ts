import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { clamdScanner } from "../antivirus/clamd.ts";
import { type ThemeReader, themeReader } from "../documents/configuration/theme.ts";
import {
  type LiveConnections,
  LocalConnections,
  remoteConnections,
} from "../documents/connections/live-connections.ts";
import { contentAsText } from "../documents/content/text-access.ts";
import { type Docspec, openDocspec } from "../documents/imports/docspec.ts";
import { DocumentLists } from "../documents/lists/list-cache.ts";
import { LiveRequests } from "../documents/live-requests/live-requests.ts";
import {
  createSessionAuthenticator,
  withSessionCredentials,
} from "../documents/login/session-authenticator.ts";
import { type AttachmentScanner, NO_SCANNER } from "../documents/media/scanner.ts";
import { handleDocumentCall } from "../documents/script-api/handle-document-call.ts";
import { AwarenessHub } from "../documents/updates/awareness-hub.ts";
import { AwarenessStore } from "../documents/updates/awareness-store.ts";
import { UpdateLogs } from "../documents/updates/update-log.ts";
import { withAccessTokens } from "../documents/users/authenticate.ts";
import { type UserDirectory, userDirectory } from "../documents/users/directory.ts";
import type { ConsumerDeps, LastFailure } from "../events/consumer.ts";
import { RecentEvents } from "../events/log/recent-events.ts";
import { EVENT_INDEX } from "../events/log/table.ts";
import type { EventEffects, Matcher } from "../events/publish.ts";
import type { Authenticator, SessionAuthenticator } from "../http/auth.ts";
import { EventStreams } from "../http/event-streams.ts";
import { withServiceKeys } from "../http/service-keys.ts";
import { memoryThrottle, type Throttle } from "../http/throttle.ts";
import { type Letterhead, type Mailer, noMailer } from "../mail/mail.ts";
import type { MailSender } from "../mail/mail-message.ts";
import { smtpMailer } from "../mail/smtp.ts";
import { type Network, openNetwork } from "../network/network.ts";
import type { Converter } from "../platform/converter.ts";
import { limitStates, readHighWaterMarks } from "../platform/high-water-marks.ts";
import type { Log } from "../platform/log.ts";
import type { Ports } from "../platform/ports.ts";
import type { Renderer } from "../platform/renderer.ts";
import type { StorageHealth } from "../platform/storage-health.ts";
import { PRODUCT_VERSION } from "../product-version.ts";
import { RankedIndex } from "../ranked-index/ranked-index.ts";
import type { Config, Retention } from "../settings/config.ts";
import type { DocumentSettings } from "../settings/document-config.ts";
import type { LlmSettings } from "../settings/llm.ts";
import { recordLastFailure } from "../workflows/dead-letters/dead-letters.ts";
import { type Installation, readInstallation } from "../workflows/installation/installation.ts";
import { type ListIndexes, listIndexes } from "../workflows/lists/list.ts";
import { type NumberSequence, numberSequence } from "../workflows/lists/number-sequence.ts";
import type { OverviewSource } from "../workflows/overview/platform.ts";
import { type RecordDeps, recordDeps, recordEffects } from "../workflows/records/record-effects.ts";
import type { Remote } from "../workflows/remote/machine.ts";
import { type RunBudget, runBudget } from "../workflows/runs/run-budget.ts";
import { type RunSlots, runSlots } from "../workflows/runs/slots.ts";
import type { HandleDocumentCall } from "../workflows/script-api/document-calls.ts";
import { recordStepFailure } from "../workflows/steps/consumer.ts";
import type { HandleScriptCall, Snapshots, StepDeps, StepPaths } from "../workflows/steps/context.ts";
import type { ConductHere } from "../workflows/steps/messages.ts";
import { type StepActivity, stepActivity } from "../workflows/steps/step-activity.ts";
import { type CatalogReader, catalogReader } from "../workflows/store/catalog.ts";
import { cachedDefinitions, type Definitions } from "../workflows/store/store.ts";
import { triggerMatcher } from "../workflows/triggers/event-matcher.ts";
import type { FireTriggers } from "../workflows/triggers/fire-triggers.ts";
import { type RateBreaker, rateBreaker } from "../workflows/triggers/rate-breaker.ts";
import { SHARED_WORKSPACES_DIR } from "../workflows/workspaces/paths.ts";
import type { WorkspaceSync } from "../workflows/workspaces/sync.ts";

/** Time between two reads of the updates and the awareness of other machines, while somebody listens, milliseconds. */
const UPDATES_REFRESH_MS = 300;

/** Time between two reads of the event log, which other machines write too, while a stream is open, milliseconds. */
const LOG_REFRESH_MS = 500;

/** Everything that a function can use. Each service declares the part that it uses. */
export interface Deps extends Ports, RecordDeps {
  readonly auth: Authenticator;
  readonly sessions: SessionAuthenticator;
  readonly catalog: CatalogReader;
  readonly definitions: Definitions;
  /** Over the event log; one for all readers and the writer of this process. */
  readonly eventIndex: RankedIndex;
  readonly recentEvents: RecentEvents;
  /** Over runs, assets and all other lists, likewise. */
  readonly lists: ListIndexes;
  readonly matcher: Matcher;
  readonly breaker: RateBreaker;
  readonly runBudget: RunBudget;
  readonly stepActivity: StepActivity;
  readonly effects: EventEffects;
  readonly runNumbers: NumberSequence;
  /** Places of runs that go at once. */
  readonly runSlots: RunSlots;
  readonly paths: StepPaths;
  /** What the folder of all workspaces is called in values of runs. */
  readonly workspacesDir: string;
  /** What built-in variables of runs say of it. */
  readonly installation: Installation;
  /** Further folders that watch triggers may look into. Absolute. */
  readonly watchRoots: readonly string[];
  /** Whether steps of a run may be executed on several machines, and here what keeps their files the same. */
  readonly sharesWorkspaces: boolean;
  readonly workspaceSync?: WorkspaceSync;
  /** Containers and other hosts for steps, where this process opens such. */
  readonly remote?: Remote;
  readonly shell: string;
  readonly network: Network;
  /** Reaches public addresses only, for URLs in documents. */
  readonly publicNetwork: Network;
  readonly llm: LlmSettings;
  /** For scripts, where this process executes steps. */
  readonly handleScriptCall?: HandleScriptCall;
  readonly conductHere?: ConductHere;
  readonly snapshots?: Snapshots;
  /** Streams of the event log and of runs. */
  readonly eventStreams: EventStreams;
  readonly receiverEnabled: boolean;
  /** What a name without a value does in the templates of a workflow. */
  readonly undefinedNames: "empty" | "fail";
  readonly retention: Retention;
  readonly documents: DocumentSettings;
  readonly userDirectory: UserDirectory;
  readonly theme: ThemeReader;
  readonly throttle: Throttle;
  /** `PUBLIC_URL`: links in responses begin with it. */
  readonly publicUrl?: string | undefined;
  /** Resolves when everything written is on disk, where writes resolve earlier. */
  readonly durable?: () => Promise<void>;
  /** Where this process opens one, or has a function for it. */
  readonly converter?: Converter;
  readonly renderer?: Renderer;
  /** Sends what consumers write to people. */
  readonly mail: Mailer;
  readonly letterhead: Letterhead;
  /** Decides whether uploaded files are safe. */
  readonly scanner: AttachmentScanner;
  /** Converts Word documents, if DOCSPEC_API_URL is set. */
  readonly docspec?: Docspec;
  /** The collaboration server, wherever it runs. */
  readonly liveConnections: LiveConnections;
  /** Identifies the collaboration server to functions: Y_PROVIDER_API_KEY, or a key of this process. */
  readonly collaborationKey: string;
  /** What lists of documents are made from; one for all of this process. */
  readonly documentLists: DocumentLists;
  /** Whether workflows are loaded and their triggers are active, where this process loads them. */
  readonly isStarted?: () => boolean;
  /** Of the data folder, for the readiness check; where this process has one. */
  readonly storage?: StorageHealth;
  /** Queues of the template, for the readiness check. */
  readonly queueNames: readonly string[];
  /** What the names of queues begin with in AWS: the stack's. */
  readonly queueNamePrefix?: string;
  /** What `GET /platform` says of the installation. */
  readonly overview: OverviewSource;
  noteLastFailure(failure: LastFailure): Promise<void>;
}

/** Composes the services over the ports of a platform. */
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
    | "renderer"
    | "durable"
  > & {
    /** Takes mails where no mail server is set up. */
    readonly layMails?: (from: MailSender) => Mailer;
    /** Contains the language of expressions, which a function loads with the first event that fits a trigger. */
    readonly fireTriggers: FireTriggers;
  },
): Deps {
  const { yProviderApiKey, collaborationServerSecret } = config.documents;
  const collaborationKey = yProviderApiKey ?? randomUUID();
  const catalog = catalogReader(ports);
  const records = recordDeps(ports);
  const breaker = rateBreaker(ports, config.triggerFiresPerMinute);
  const budget = runBudget(ports, config.runsPerRootCauseMax);
  const workspacesDir = own.sharesWorkspaces ? SHARED_WORKSPACES_DIR : own.paths.workspacesDir;
  const matcher = triggerMatcher({ ...ports, workspacesDir }, catalog, breaker, {
    enabled: config.receiverEnabled,
    budget,
    fire: own.fireTriggers,
  });
  const effects = recordEffects(records);
  const base = {
    ...ports,
    ...own,
    auth: withServiceKeys(withSessionCredentials(withAccessTokens(own.auth, ports, config.oidc), ports), {
      id: "collaboration",
      keys: [collaborationKey, collaborationServerSecret],
    }),
    collaborationKey,
    sessions: createSessionAuthenticator(ports, config.documents.sessions),
    ...records,
    catalog,
    definitions: cachedDefinitions(ports),
    eventIndex: new RankedIndex(ports, EVENT_INDEX),
    recentEvents: new RecentEvents(),
    lists: listIndexes(ports),
    // Several machines share the tables then.
    eventStreams: new EventStreams(own.sharesWorkspaces ? { refreshMs: LOG_REFRESH_MS } : {}),
    matcher,
    breaker,
    runBudget: budget,
    stepActivity: stepActivity(ports.clock),
    effects,
    runNumbers: numberSequence(ports, "runs"),
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
      exemption: { scope: "document", header: "x-y-provider-key", key: collaborationKey },
    }),
    publicUrl: config.publicUrl,
    mail: openMailer(ports, config.mail, own.layMails),
    letterhead: config.mail.letterhead,
    scanner: openScanner(config.documents),
    ...(config.documents.docspec === undefined
      ? {}
      : { docspec: openDocspec(config.documents.docspec, ports.log) }),
    liveConnections:
      config.documents.collaborationApi === undefined
        ? new LocalConnections()
        : remoteConnections({ ...config.documents.collaborationApi, log: ports.log }),
    documentLists: new DocumentLists(),
    network: openNetwork(config.network),
    publicNetwork: openNetwork({ privateAddresses: "deny", loopback: "deny" }),
    llm: config.llm,
    overview: {
      version: PRODUCT_VERSION,
      platform: own.sharesWorkspaces ? ("aws" as const) : ("embedded" as const),
      stack: own.sharesWorkspaces ? config.stack : null,
      maxConcurrentRuns: config.maxConcurrentRuns,
      settings: config.effectiveSettings,
      limits: limitStates,
      highWaterMarks: readHighWaterMarks,
    },
  };
  return {
    ...base,
    noteLastFailure: (failure) => recordLastFailure(base, failure),
  };
}

/** What functions use that read or write the content of documents. */
export interface DocumentDeps extends Deps {
  /** The update logs of documents that this process has open. */
  readonly updateLogs: UpdateLogs;
  /** Passes awareness between the clients of this process. */
  readonly awarenessHub: AwarenessHub;
  /** Requests that wait for updates of documents. */
  readonly liveRequests: LiveRequests;
}

/** Composes the services with the update logs of documents. Bundles with them contain Yjs. */
export function composeDocumentDeps(
  ports: Ports,
  config: Config,
  own: Parameters<typeof composeDeps>[2],
): DocumentDeps {
  const deps = composeDeps(ports, config, own);
  // Several machines share the tables then.
  const refreshMs = own.sharesWorkspaces ? UPDATES_REFRESH_MS : undefined;
  const updateLogs = new UpdateLogs({ ...deps, converter: own.converter }, { refreshMs });
  const awarenessHub = new AwarenessHub(
    refreshMs === undefined ? undefined : { store: new AwarenessStore(ports), refreshMs, log: ports.log },
  );
  return { ...deps, updateLogs, awarenessHub, liveRequests: new LiveRequests(ports) };
}

function openScanner({ attachments: { checkedBy } }: DocumentSettings): AttachmentScanner {
  return typeof checkedBy === "object" ? clamdScanner(checkedBy.clamav) : NO_SCANNER;
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

function findShell(log: Log): string {
  const folders = (process.env.PATH ?? "/usr/bin:/bin").split(":");
  if (folders.some((folder) => folder !== "" && existsSync(join(folder, "bash")))) return "bash";
  log.warn("bash is not installed: sh runs the bash steps");
  return "sh";
}

/** Dependencies of an executor of steps: no tables and no lists. */
export type ExecutorDeps = StepDeps & ConsumerDeps;

/** Composes what executors of steps use, for a Lambda function or for a worker. */
export function composeExecutorDeps(
  ports: Ports,
  config: Config,
  own: Pick<ExecutorDeps, "paths" | "remote" | "workspaceSync">,
): ExecutorDeps {
  const deps = {
    ...ports,
    ...own,
    shell: findShell(ports.log),
    network: openNetwork(config.network),
    llm: config.llm,
  };
  return { ...deps, noteLastFailure: (failure) => recordStepFailure(deps, failure) };
}

/** Handles the calls of scripts that read or write documents. */
export function documentCallHandler(deps: DocumentDeps): HandleDocumentCall {
  const documentDeps = { ...deps, documentContent: contentAsText(deps) };
  return (call, by) => handleDocumentCall(documentDeps, call, by);
}
