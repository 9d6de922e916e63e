import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openEmbeddedApp } from "../../lib/app/local.ts";
import { type EventDeps, type EventDraft, emitEvents } from "../../lib/events/publish.ts";
import { jsonLog } from "../../lib/platform/json-log.ts";
import type { Queues } from "../../lib/platform/queues.ts";
import { readConfig } from "../../lib/settings/config.ts";
import { startPlatform } from "../../localstack/platform.ts";
import { readTemplateOnce } from "../../localstack/template-cache.ts";
import { fillDocuments } from "./fill-documents.ts";
import { fillLists } from "./fill-lists.ts";
import { fillTexts } from "./fill-texts.ts";
import { assetDraft, eventDraft, type RecordKind } from "./records.ts";

const TEMPLATE = fileURLToPath(new URL("../../template.yaml", import.meta.url));
/** Events per transaction, which has at most 100 writes, up to six per event. */
const AT_ONCE = 15;
const UNDER_WAY = 10;
/** Maximum number of waiting messages; filling pauses above it. */
const BACKLOG_MAX = 20_000;
const POLL_MS = 20;

export interface Filling {
  readonly dataDir: string;
  readonly kind: RecordKind;
  readonly count: number;
}

/**
 * Fills a data folder like emits over HTTP: the same functions record the events, and the same pollers deliver them
 * to index and dispatch until the queues are empty.
 */
async function fill({ dataDir, kind, count }: Filling): Promise<void> {
  const config = readConfig({ WEFT_DATA_DIR: dataDir, PORT: "0" });
  const template = readTemplateOnce(TEMPLATE, dataDir);
  const log = jsonLog({ write: (line) => process.stderr.write(line), level: "warn" });
  const { resources } = template;
  const opened = await openEmbeddedApp({ dataDir, resources, config, log, schedulerEnabled: false });
  const { host, port } = config;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const platform = await startPlatform({ template, root, opened, log, host, port });
  const names = resources.queues.map(({ name }) => name);
  const waiting = () => backlog(opened.ports.queues, names);
  if (kind === "lists") await fillLists(opened.deps, count);
  else if (kind === "documents") await fillDocuments(opened.deps, count);
  else if (kind === "texts") await fillTexts(opened.deps, count, waiting);
  else await emitAll(opened.deps, kind === "events" ? eventDraft : assetDraft, count, waiting);
  while ((await waiting()) > 0) await sleep(POLL_MS);
  await platform.close();
}

async function emitAll(
  deps: EventDeps,
  draft: (number: number) => EventDraft,
  count: number,
  waiting: () => Promise<number>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const from = next;
      next = Math.min(count, next + AT_ONCE);
      await emitEvents(
        deps,
        Array.from({ length: next - from }, (_, at) => draft(from + at)),
      );
      while ((await waiting()) > BACKLOG_MAX) await sleep(POLL_MS);
    }
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, work));
}

async function backlog(queues: Queues, names: readonly string[]): Promise<number> {
  const depths = await Promise.all(names.map((name) => queues.depth(name)));
  return depths.reduce((sum, { visible, inFlight, delayed }) => sum + visible + inFlight + delayed, 0);
}

process.once("message", (filling: Filling) => {
  fill(filling).then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
