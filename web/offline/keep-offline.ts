import { listCopies } from "../api/local-data.ts";
import { loadTexts } from "../i18n/i18n.ts";
import workerUrl from "./service-worker.ts?worker&url";

/** Has the page work without a connection from its next load on. Nothing happens where browsers do not allow that. */
export async function keepOffline(): Promise<void> {
  if (import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  try {
    // What leads to the documents on this device, which the user may not have seen yet.
    if ((await listCopies()).length > 0)
      await Promise.all([
        import("../pages/documents/documents-page.tsx"),
        import("../pages/documents/local-documents.tsx"),
        loadTexts(["documents"]),
      ]);
    await navigator.serviceWorker.register(workerUrl, { scope: "/" });
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage(performance.getEntriesByType("resource").map(({ name }) => name));
  } catch {
    // Private windows and browsers without storage.
  }
}
