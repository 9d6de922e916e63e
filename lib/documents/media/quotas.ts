import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Write } from "../../platform/tables.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { type AttachmentUsage, attachmentUsageTable, usageKey } from "../tables/attachments.ts";

type QuotaDeps = Pick<Ports, "tables"> & { readonly documents: Pick<DocumentSettings, "attachments"> };

/** An error of the field with the file. */
export const fileError = (message: string): ApiError =>
  new ApiError("bad_request", message, { body: { file: [message] } });

const MIB = 1024 * 1024;
/** A size in mebibytes, which the reference calls MB. */
export const inMegabytes = (bytes: number): string =>
  bytes < MIB / 100 ? `${bytes} bytes` : `${Number((bytes / MIB).toFixed(2))} MB`;

/**
 * Plans the writes that count an upload against the quotas of its document and of the installation; they fail if another
 * upload was faster. Throws `bad_request` if a quota does not suffice.
 */
export async function planUsage(deps: QuotaDeps, document: string, bytes: number): Promise<Write[]> {
  const { documentMaxBytes, totalMaxBytes } = deps.documents.attachments;
  const [own, all] = await Promise.all([
    deps.tables.get(attachmentUsageTable, usageKey(document)),
    deps.tables.get(attachmentUsageTable, usageKey(undefined)),
  ]);
  if ((own?.bytes ?? 0) + bytes > documentMaxBytes)
    throw fileError(`The attachments of this document may have ${inMegabytes(documentMaxBytes)} in total.`);
  if ((all?.bytes ?? 0) + bytes > totalMaxBytes)
    throw fileError("The storage for attachments is full. Ask an administrator for more.");
  return [planAdded(document, own, bytes, documentMaxBytes), planAdded(undefined, all, bytes, totalMaxBytes)];
}

function planAdded(
  document: string | undefined,
  before: AttachmentUsage | undefined,
  bytes: number,
  maxBytes: number,
): Write {
  const when: Condition[] = before === undefined ? [["pk", "missing"]] : [["bytes", "<=", maxBytes - bytes]];
  return {
    op: "update",
    table: attachmentUsageTable,
    key: usageKey(document),
    change: { add: { bytes } },
    when,
  };
}

/** Plans the writes that remove a deleted attachment from the quotas. */
export const planFreed = (document: string, bytes: number): Write[] =>
  [document, undefined].map((of) => ({
    op: "update",
    table: attachmentUsageTable,
    key: usageKey(of),
    change: { add: { bytes: -bytes } },
    when: [["pk", "exists"]],
  }));
