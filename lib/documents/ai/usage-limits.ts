import { ApiError } from "../../errors.ts";
import { networkOf } from "../../http/client-network.ts";
import type { RequestInfo } from "../../http/route.ts";
import { throttled, waitOf } from "../../http/sliding-window.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import type { ThrottleRate } from "../../settings/throttle-rates.ts";
import type { Viewer } from "../authorization/document-access.ts";
import { aiUsageKey, aiUsageTable } from "../tables/ai-usage.ts";

export type UsageDeps = Pick<Ports, "tables" | "clock"> & {
  readonly documents: Pick<DocumentSettings, "aiRates">;
};

/**
 * Counts a request for an AI function against the rates of its document and of its caller, for all processes together:
 * anonymous callers by their network. A refused request is not counted. Throws `too_many_requests`. Reference 1.1.
 */
export async function countAiRequest(
  deps: UsageDeps,
  viewer: Viewer,
  document: string,
  { clientAddress }: Pick<RequestInfo, "clientAddress">,
): Promise<void> {
  const { aiRates } = deps.documents;
  const caller = viewer === undefined ? `address ${networkOf(clientAddress)}` : `user ${viewer.id}`;
  const counted = [
    { key: aiUsageKey(`document ${document}`), rates: aiRates.document },
    { key: aiUsageKey(caller), rates: aiRates.user },
  ].filter(({ rates }) => rates.length > 0);
  if (counted.length === 0) return;
  await retryOnConflict(
    async () => {
      const rows = await deps.tables.batchGet(
        aiUsageTable,
        counted.map(({ key }) => key),
      );
      const now = deps.clock.now();
      const writes: Write[] = [];
      let waitMs = 0;
      for (const { key, rates } of counted) {
        const { times = [], version = 0 } = rows.find(({ pk }) => pk === key.pk) ?? {};
        const longestMs = Math.max(...rates.map(({ periodMs }) => periodMs));
        const recent = times.filter((time) => time > now - longestMs);
        waitMs = Math.max(waitMs, ...rates.map((rate) => waitOf(rate, recent, now)));
        writes.push(usageWrite(key, rates, version, [...recent, now], now + longestMs));
      }
      if (waitMs > 0) throw throttled(Math.ceil(waitMs / 1000));
      return (await deps.tables.write(writes)).ok ? undefined : CONFLICT;
    },
    {
      exceeded: () =>
        new ApiError("too_many_requests", "Too many requests at once.", { retryAfterSeconds: 1 }),
    },
  );
}

function usageWrite(
  key: Key,
  rates: readonly ThrottleRate[],
  version: number,
  times: readonly number[],
  expiresMs: number,
): Write {
  // Older ones affect no rate.
  const kept = times.toSorted((a, b) => a - b).slice(-Math.max(...rates.map(({ count }) => count)));
  const item = { ...key, times: kept, version: version + 1, expires_at: Math.ceil(expiresMs / 1000) };
  return {
    op: "put",
    table: aiUsageTable,
    item,
    when: [version === 0 ? ["version", "missing"] : ["version", "=", version]],
  };
}
