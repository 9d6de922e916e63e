import { useEffect } from "react";
import type { WeftProvider } from "../../../client/collaboration/weft-provider.ts";
import { useConfig } from "../../api/config.ts";

/** The longest time of a timer of browsers, milliseconds. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/**
 * Disconnects while the page is hidden for longer than the server allows (`COLLABORATION_WS_INACTIVITY_TIMEOUT`) and
 * everything is saved, and connects again when it is shown.
 */
export function useInactivity(provider: WeftProvider | undefined): void {
  const { data: config } = useConfig();
  const seconds = config?.COLLABORATION_WS_INACTIVITY_TIMEOUT ?? undefined;
  useEffect(() => {
    if (provider === undefined || seconds === undefined) return;
    let timer: number | undefined;
    let isDisconnected = false;
    const wait = (): void => {
      timer = window.setTimeout(disconnect, Math.min(seconds * 1000, TIMER_MAX_MS));
    };
    const disconnect = (): void => {
      isDisconnected = provider.unsyncedChanges === 0;
      if (isDisconnected) provider.disconnect();
      else wait();
    };
    const onVisibility = (): void => {
      window.clearTimeout(timer);
      if (document.visibilityState === "hidden") wait();
      else if (isDisconnected) {
        isDisconnected = false;
        provider.reconnect();
      }
    };
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [provider, seconds]);
}
