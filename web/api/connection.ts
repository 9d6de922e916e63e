import { useSyncExternalStore } from "react";

/** How often a server that does not respond is asked again, milliseconds. */
const RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;

const listeners = new Set<() => void>();
let isLost = false;
let timer: ReturnType<typeof setTimeout> | undefined;

function setLost(value: boolean): void {
  if (isLost === value) return;
  isLost = value;
  for (const listener of listeners) listener();
}

/** A response arrived, whatever its status. */
export function noteResponse(): void {
  clearTimeout(timer);
  timer = undefined;
  setLost(false);
}

/** A request got no response: the server is asked until it responds. */
export function noteFailure(): void {
  setLost(true);
  timer ??= setTimeout(() => {
    timer = undefined;
    fetch("/health", { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
      noteResponse,
      noteFailure,
    );
  }, RETRY_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the server did not respond to the last request. */
export const useConnectionLost = (): boolean => useSyncExternalStore(subscribe, () => isLost);

/** Calls `listener` when the server responds again. */
export const onReconnected = (listener: () => void): (() => void) =>
  subscribe(() => {
    if (!isLost) listener();
  });
