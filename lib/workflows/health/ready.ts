import { ApiError, toApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StorageHealth } from "../../platform/storage-health.ts";
import { FIRST_START_KEY, serviceTable } from "../installation/table.ts";

interface LiveStatus {
  readonly rooms: number;
  readonly connections: number;
}

interface Readiness {
  readonly status: "ready";
  readonly checks: { readonly tables: "ok"; readonly queues: "ok" };
  readonly collaboration?: Collaboration;
}

/** Whether editors can connect to the collaboration server. */
type Collaboration = Partial<LiveStatus> &
  ({ readonly status: "ok" } | { readonly status: "unavailable"; readonly advice: string });

/** Where the collaboration server runs, and whether it works. */
interface LiveConnections {
  readonly status?: (() => LiveStatus) | undefined;
  /** What is wrong, in one sentence. */
  check?(): Promise<string | undefined>;
}

/** Time for which the state of a separate collaboration server is remembered, milliseconds. */
const REMEMBERED_MS = 5_000;
const checks = new WeakMap<
  LiveConnections,
  { readonly at: number; readonly advice: Promise<string | undefined> }
>();

/**
 * Checks the storage, a table and every queue. Throws `unavailable` naming the components that do not respond, and
 * until the workflows are loaded and their triggers are active.
 */
export async function checkReady(
  deps: Pick<Ports, "tables" | "queues"> & {
    readonly queueNames: readonly string[];
    readonly isStarted?: () => boolean;
    readonly storage?: StorageHealth;
    readonly liveConnections?: LiveConnections;
    /** Whether there is a separate collaboration server. */
    readonly documents?: { readonly collaborationApi: object | undefined };
  },
): Promise<Readiness> {
  const fault = await deps.storage?.check();
  if (fault !== undefined) throw new ApiError("unavailable", toApiError(fault).message, { cause: fault });
  if (deps.isStarted?.() === false)
    throw new ApiError("unavailable", "The workflows are being loaded, try again shortly", {
      isExpected: true,
    });
  await deps.tables.get(serviceTable, FIRST_START_KEY).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The tables do not respond", { cause });
  });
  await Promise.all(deps.queueNames.map((name) => deps.queues.depth(name))).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The queues do not respond", { cause });
  });
  const collaboration = await checkCollaboration(deps);
  return {
    status: "ready",
    checks: { tables: "ok", queues: "ok" },
    ...(collaboration === undefined ? {} : { collaboration }),
  };
}

/** Undefined in a process that has no collaboration server. Without one, documents are edited over HTTP. */
async function checkCollaboration({
  liveConnections: live,
  documents,
}: Pick<Parameters<typeof checkReady>[0], "liveConnections" | "documents">): Promise<
  Collaboration | undefined
> {
  const counts = live?.status?.();
  if (live === undefined || (counts === undefined && documents?.collaborationApi === undefined))
    return undefined;
  let check = checks.get(live);
  if (check === undefined || performance.now() - check.at > REMEMBERED_MS) {
    check = { at: performance.now(), advice: live.check?.() ?? Promise.resolve(undefined) };
    checks.set(live, check);
  }
  const advice = await check.advice;
  return advice === undefined ? { status: "ok", ...counts } : { status: "unavailable", advice, ...counts };
}
