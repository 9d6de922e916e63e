import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { attachmentBlob, attachmentKey, attachmentsTable } from "../tables/attachments.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { planFreed } from "./quotas.ts";
import type { ScanResult } from "./scanner.ts";
import { eventData } from "./upload.ts";

/** Maximum length of a finding, characters. */
const FINDING_MAX = 200;

/**
 * Records whether an attachment is safe. A safe one becomes ready, if it was being processed. The bytes of an infected
 * one are deleted, it stays on the list of its documents, and `documents.attachment.infected` is emitted. May be
 * repeated. Throws `not_found`.
 */
export async function recordVerdict(
  deps: CommitDeps & Pick<Ports, "blobs" | "clock">,
  key: string,
  verdict: ScanResult,
): Promise<void> {
  const state = verdict.isSafe ? "ready" : "infected";
  await commitChange(deps, async () => {
    const stored = await deps.tables.get(attachmentsTable, attachmentKey(key));
    if (stored === undefined) throw new ApiError("not_found", "Attachment missing");
    const nothing = { writes: [], events: [], result: undefined };
    if (stored.state === state || (verdict.isSafe && stored.state !== "processing")) return nothing;
    const document = await deps.tables.get(documentsTable, documentKey(stored.document));
    if (document === undefined) return nothing;
    const finding = verdict.isSafe ? undefined : oneLine(verdict.finding);
    return {
      writes: [
        {
          op: "update",
          table: attachmentsTable,
          key: attachmentKey(key),
          change: { set: { state, ...(finding === undefined ? {} : { finding }) } },
          when: [["state", "=", stored.state]],
        },
        ...(verdict.isSafe ? [] : planFreed(stored.document, stored.bytes)),
      ],
      events:
        finding === undefined
          ? []
          : [
              documentEvent("documents.attachment.infected", document, undefined, {
                ...eventData(stored),
                finding,
              }),
            ],
      result: undefined,
    };
  });
  if (!verdict.isSafe) await deps.blobs.delete([attachmentBlob(key)]);
}

const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, FINDING_MAX) || "unknown";
