import type { ThemeReader } from "./documents/configuration/theme.ts";
import type { DocumentLists } from "./documents/lists/list-cache.ts";
import type { UserDirectory } from "./documents/users/directory.ts";
import type { LastFailure } from "./events/consumer.ts";
import type { EventEffects, Matcher } from "./events/publish.ts";
import type { Authenticator } from "./http/auth.ts";
import type { Throttle } from "./http/throttle.ts";
import type { Network } from "./network/network.ts";
import type { UploadReceiver } from "./platform/blobs.ts";
import type { Converter } from "./platform/converter.ts";
import type { Letterhead, Mailer } from "./platform/mail.ts";
import { openedOnce } from "./platform/opened-once.ts";
import type { Ports } from "./platform/ports.ts";
import type { StorageHealth } from "./platform/storage-health.ts";
import type { RankedIndex } from "./ranked-index/ranked-index.ts";
import type { Retention } from "./settings/config.ts";
import type { DocumentSettings } from "./settings/document-config.ts";
import type { LlmSettings } from "./settings/llm.ts";
import type { Installation } from "./workflows/installation/installation.ts";
import type { ListIndexes } from "./workflows/lists/list.ts";
import type { Numbers } from "./workflows/lists/number-sequence.ts";
import type { RecordDeps } from "./workflows/records/effects.ts";
import type { Remote } from "./workflows/remote/machine.ts";
import type { RunBudget } from "./workflows/runs/run-budget.ts";
import type { RunSlots } from "./workflows/runs/slots.ts";
import type { StepActivity } from "./workflows/steps/activity.ts";
import type { AnswerScript, Snapshots, StepPaths } from "./workflows/steps/context.ts";
import type { CatalogReader } from "./workflows/store/catalog.ts";
import type { Definitions } from "./workflows/store/store.ts";
import type { RateBreaker } from "./workflows/triggers/breaker.ts";
import type { WorkspaceSync } from "./workflows/workspaces/sync.ts";

/** Everything that a function may ask for. Services name the part that they use. */
export interface Deps extends Ports, RecordDeps {
  readonly auth: Authenticator;
  readonly catalog: CatalogReader;
  readonly definitions: Definitions;
  /** Over the event log; one for all readers and the writer of this process. */
  readonly eventIndex: RankedIndex;
  /** Over runs, assets and all other lists, likewise. */
  readonly lists: ListIndexes;
  readonly matcher: Matcher;
  readonly breaker: RateBreaker;
  readonly runBudget: RunBudget;
  readonly stepActivity: StepActivity;
  readonly effects: EventEffects;
  readonly runNumbers: Numbers;
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
  readonly llm: LlmSettings;
  /** For scripts, where this process executes steps. */
  readonly answerScript?: AnswerScript;
  readonly snapshots?: Snapshots;
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
  /** Where this process opens one, or has a function for it. */
  readonly converter?: Converter;
  /** Sends what consumers write to people. */
  readonly mail: Mailer;
  readonly letterhead: Letterhead;
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
  noteLastFailure(failure: LastFailure): Promise<void>;
}

/** Dependencies opened for a process of its own, whatever platform is below. */
export interface OpenedDeps {
  readonly deps: Deps;
  readonly ports: Ports;
  readonly tokenSource: "environment" | "file";
  readonly tokenPath: string;
  /** Whether the tables answer, which everything leans on. */
  isUp(): Promise<boolean>;
  /** Takes uploads by paths of the gateway, where the blob store has no addresses of its own. */
  readonly uploads?: UploadReceiver;
  /** Settles when all that was written is on disk, where writes settle before. */
  durable?(): Promise<void>;
  /** Gives back memory that is only kept to be quick: for a server that has nothing to do. */
  releaseMemory?(): Promise<void>;
  /** Reads and watches the workflow folder. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The dependencies of a function that runs in Lambda, built once a container; what failed is tried again by
 * the next invocation. The local platform hands its own to a function, and AWS's SDK is then never loaded.
 */
export const openDeps: () => Promise<Deps> = openedOnce(() =>
  Promise.all([
    import("./deps-aws-stored.ts"),
    import("./deps-compose.ts"),
    import("./deps-checked.ts"),
  ]).then(([{ openStoredAwsDeps }, { composeDeps }, { checked }]) =>
    openStoredAwsDeps(process.env, composeDeps).then(checked),
  ),
);
