import { useDocumentVisibility } from "@mantine/hooks";
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
  const isHidden = useDocumentVisibility() === "hidden";
  useEffect(() => {
    if (provider === undefined || seconds === undefined || !isHidden) return;
    let isDisconnected = false;
    const disconnect = (): void => {
      if (provider.unsyncedChanges > 0) return;
      isDisconnected = true;
      provider.disconnect();
    };
    const timer = window.setInterval(disconnect, Math.min(seconds * 1000, TIMER_MAX_MS));
    return () => {
      window.clearInterval(timer);
      if (isDisconnected) provider.reconnect();
    };
  }, [provider, seconds, isHidden]);
}
