import type { AwarenessHub } from "../updates/awareness-hub.ts";
import type { DocumentLog } from "../updates/update-log.ts";
import { DeferredText } from "./deferred-text.ts";
import { describeReplaced, type GenerationDeps, openLogOf } from "./generation.ts";
import { type CheckAccess, type LiveAccess, watchRequest } from "./live-access.ts";
import type { LiveRequests } from "./live-requests.ts";
import { type MissingUpdates, missingUpdates, readMissing, readSince } from "./read-updates.ts";
import { toBase64 } from "./server-sent-events.ts";

export type PollDeps = GenerationDeps & {
  readonly liveRequests: LiveRequests;
  readonly awarenessHub: AwarenessHub;
};

export interface PollOptions {
  readonly document: string;
  /** Identifies the caller for the limits. */
  readonly caller: string;
  /** What the client already has. */
  readonly generation: number | undefined;
  readonly position: number | undefined;
  readonly stateVector: string | undefined;
  readonly waitMs: number;
  /** Which awareness the client has; undefined if it does not wait for awareness. */
  readonly awarenessTag: string | undefined;
  /** Who has sent the awareness that the client has anyway. */
  readonly awarenessOwner?: string;
  /** Access to watch while the request waits; undefined for a caller that watches it itself. */
  readonly watched?: {
    readonly access: LiveAccess;
    readonly check: CheckAccess;
    /** Whether the client may edit, as far as it knows; undefined if it does not say. */
    readonly knownToEdit: boolean | undefined;
  };
}

/** The response to a poll. If the client disconnects, the wait ends. */
export function pollResponse(
  deps: PollDeps,
  options: PollOptions,
): { readonly type: string; readonly content: DeferredText } {
  const poll = async (signal: AbortSignal) => JSON.stringify(await pollUpdates(deps, options, signal));
  return { type: "application/json; charset=utf-8", content: new DeferredText(poll) };
}

/**
 * Reads the updates that a client does not have; if there are none, waits for one, or for a change of awareness or of
 * access. It does not wait if access is not what the client knows. An aborted signal ends the wait. Throws `not_found`,
 * `precondition_failed`, `bad_request`, `too_many_requests`, and what `check` throws.
 */
async function pollUpdates(
  deps: PollDeps,
  options: PollOptions,
  signal: AbortSignal,
): Promise<MissingUpdates> {
  const { document, caller, generation, position, waitMs } = options;
  const log = await openLogOf(deps, document, generation);
  try {
    await deps.awarenessHub.load(document);
    if (position === undefined || waitMs === 0)
      return {
        ...(await readNow(log, options)),
        ...readAwareness(deps, options),
        ...permissionsOf(options.watched?.access),
      };
    const seat = deps.liveRequests.take(document, caller);
    try {
      const ended = AbortSignal.any([signal, seat.stopping]);
      return await waitForUpdates(deps, log, { ...options, position }, ended);
    } finally {
      seat.release();
    }
  } catch (error) {
    throw await describeReplaced(deps, log, error);
  } finally {
    log.close();
  }
}

async function readNow(log: DocumentLog, { position, stateVector }: PollOptions): Promise<MissingUpdates> {
  const since = position === undefined ? undefined : await readSince(log, position);
  return since ?? readMissing(log, stateVector);
}

const permissionsOf = (access: LiveAccess | undefined): Pick<MissingUpdates, "permissions"> =>
  access === undefined ? {} : { permissions: { content_retrieve: true, content_patch: access.canEdit } };

/** The awareness of the document, unless the client has it. */
function readAwareness(
  { awarenessHub }: PollDeps,
  { document, awarenessTag: known, awarenessOwner: except }: PollOptions,
): Pick<MissingUpdates, "awareness" | "awareness_tag"> {
  const found = awarenessHub.snapshot(document, { known, except });
  return found === undefined ? {} : { awareness: toBase64(found.update), awareness_tag: found.tag };
}

async function waitForUpdates(
  deps: PollDeps,
  log: DocumentLog,
  options: PollOptions & { readonly position: number },
  signal: AbortSignal,
): Promise<MissingUpdates> {
  const { document, position, waitMs, watched } = options;
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  const stop = (): void => resolve();
  // Subscribed before the log is read, so that nothing in between is missed.
  const cleanup = [log.subscribe({ onEntry: stop, onEnd: stop })];
  const timer = setTimeout(stop, waitMs);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    const found = await readNow(log, options);
    const known = watched?.knownToEdit;
    const isOutdated = known !== undefined && known !== watched?.access.canEdit;
    if (found.updates.length > 0 || isOutdated)
      return { ...found, ...readAwareness(deps, options), ...permissionsOf(watched?.access) };
    if (watched !== undefined)
      cleanup.push(watchRequest(deps.liveRequests.access, { document, ...watched, onChange: stop }));
    if (options.awarenessTag !== undefined) cleanup.push(onAwareness(deps, options, stop));
    await changed;
    if (signal.aborted) return found;
    // It may have been lost while the request waited.
    const access = await watched?.check();
    const since = await readSince(log, position);
    return {
      ...(since ?? missingUpdates(log.generation, position, [])),
      ...readAwareness(deps, options),
      ...permissionsOf(access),
    };
  } finally {
    clearTimeout(timer);
    for (const clean of cleanup) clean();
    signal.removeEventListener("abort", stop);
  }
}

/** Calls `stop` when the client does not have the awareness, after a pause. Returns a function that ends this. */
function onAwareness(deps: PollDeps, options: PollOptions, stop: () => void): () => void {
  let isDue = false;
  const check = (): void => {
    if (isDue && readAwareness(deps, options).awareness !== undefined) stop();
  };
  // A caller without an owner of its own polls for a single client.
  const pauseMs = options.awarenessOwner === undefined ? deps.liveRequests.limits.awarenessPollMs : 0;
  const timer = setTimeout(() => {
    isDue = true;
    check();
  }, pauseMs);
  const unsubscribe = deps.awarenessHub.subscribe(options.document, check);
  return () => {
    clearTimeout(timer);
    unsubscribe();
  };
}
