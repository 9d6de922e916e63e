import * as z from "zod";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { onePage } from "../lists/read-list.ts";
import { type ScheduleFilters, scheduleRows } from "../schedules/list.ts";
import type { CatalogReader } from "../store/catalog.ts";
import { webhookSecret } from "./caller.ts";

/** A webhook as its owner sees it: the only response that contains its secret. */
export const webhookRecord = z
  .object({
    id: z.string(),
    url: z.string().describe("Path relative to the URL of this service"),
    secret: z.string(),
    auth: z.enum(["key", "hmac", "hmac-body", "none"]),
    schedule_id: z.string(),
    workflow_name: z.string(),
    trigger_name: z.string(),
    is_enabled: z.boolean(),
    last_run: z.string().nullable(),
    run_count: z.int(),
    created_at: z.string(),
  })
  .meta({ id: "Webhook" });

export const WEBHOOK_ORDERINGS = ["-created_at", "created_at", "workflow_name", "-workflow_name"] as const;

type WebhookRecord = z.infer<typeof webhookRecord>;

/** The webhooks of all workflows in the order asked for. Reference 1.8. */
export async function listWebhooks(
  deps: Pick<Ports, "tables" | "clock"> & { readonly catalog: CatalogReader },
  page: PageRequest,
  ordering: ScheduleFilters["ordering"],
): Promise<Listing<WebhookRecord>> {
  const { total, rows } = await scheduleRows(deps, { trigger_type: "webhook", ordering }, page);
  const records = await Promise.all(
    rows.map(async ({ spec, webhook_id = "", ...row }) => ({
      id: webhook_id,
      url: `/automation/webhooks/${webhook_id}`,
      secret: await webhookSecret(deps, webhook_id),
      auth: spec.type === "webhook" ? spec.auth : "key",
      schedule_id: row.schedule_id,
      workflow_name: row.workflow,
      trigger_name: row.trigger,
      is_enabled: row.enabled,
      last_run: row.last_run,
      run_count: row.run_count,
      created_at: row.created_at,
    })),
  );
  return { total, items: onePage(records) };
}
