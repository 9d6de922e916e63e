import type { Document } from "@hocuspocus/server";

/**
 * Broadcasts updates at the end of the callback that applied them, in the same write as their acknowledgements. Hocuspocus
 * alone broadcasts them in the next turn of the event loop, which takes a second write to each sender.
 */
export function broadcastPromptly(document: Document): void {
  let isScheduled = false;
  document.on("update", () => {
    if (isScheduled) return;
    isScheduled = true;
    // A tick runs after all promises that one sync resolves, so that the updates that it stored become one message.
    process.nextTick(() => {
      isScheduled = false;
      document.flush();
    });
  });
}
