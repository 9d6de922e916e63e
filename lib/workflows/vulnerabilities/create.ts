import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { labelText, plainText } from "../../events/label-text.ts";
import { type EventDeps, emitEvents } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import { toRecord, type VulnerabilityRecord } from "./list.ts";
import {
  identityKey,
  identityOf,
  vulnerabilitiesTable,
  vulnerabilityIdentitiesTable,
  vulnerabilityKey,
} from "./table.ts";
import { vulnerabilityFields } from "./vulnerability-effects.ts";

const TEXT_MAX_LENGTH = 16_000;
const text = z.string().max(TEXT_MAX_LENGTH).optional();
const label = labelText.max(TEXT_MAX_LENGTH).optional();
const word = labelText.max(64).optional();

/** Body of `POST /vulnerabilities`; unknown fields are ignored. Reference 1.6 and 6. */
export const vulnerabilityBody = z.object({
  workspace: z.string("Workspace is required").min(1, "Workspace is required").max(1024).pipe(labelText),
  vuln_info: plainText.max(TEXT_MAX_LENGTH).optional(),
  vuln_title: plainText.max(TEXT_MAX_LENGTH).optional(),
  vuln_desc: plainText.max(TEXT_MAX_LENGTH).optional(),
  vuln_poc: text,
  severity: word.describe("Usually critical, high, medium, low or info; default info"),
  confidence: word,
  finding_hash: labelText
    .max(256)
    .optional()
    .describe("Identifies the vulnerability: findings with the same hash are one vulnerability"),
  asset_type: word,
  asset_value: label,
  tags: z.array(labelText.max(256)).max(100).optional(),
  detail_http_request: text,
  detail_http_response: text,
  raw_vuln_json: text,
});

/**
 * Creates a vulnerability and publishes `vuln.found`, or updates the one with the same hash, or with the same finding
 * and asset. Throws `bad_request` if no field identifies it.
 */
export async function createVulnerability(
  deps: EventDeps & Pick<Ports, "tables">,
  { workspace, ...data }: z.infer<typeof vulnerabilityBody>,
): Promise<VulnerabilityRecord> {
  const fields = vulnerabilityFields(data);
  if (!["vuln_title", "vuln_info", "finding_hash"].some((name) => name in fields))
    throw new ApiError("bad_request", "vuln_title: must not be empty");
  await emitEvents(deps, [
    { topic: "vuln.found", effect: "vulnerability", source: "api", workspace, data: fields },
  ]);
  const identity = identityOf(workspace, fields);
  const held = await deps.tables.get(vulnerabilityIdentitiesTable, identityKey(identity));
  const found =
    held === undefined ? undefined : await deps.tables.get(vulnerabilitiesTable, vulnerabilityKey(held.id));
  if (found === undefined) throw new ApiError("conflict", "The vulnerability was deleted concurrently");
  return toRecord(found);
}
