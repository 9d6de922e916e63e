import type { Match } from "../../events/log/table.ts";
import type { EventDraft, Matcher } from "../../events/publish.ts";
import { canonicalTopic, compileTopicAnySpelling } from "../../events/topic-match.ts";
import type { Ports } from "../../platform/ports.ts";
import { allWorkflows } from "../definitions/store.ts";
import { CATALOG_KEY, catalogTable, type WorkflowHead } from "../definitions/table.ts";

/** An event trigger in use, ready to be tested against topics. */
interface ReadyTrigger extends Match {
  readonly matches: (topic: string) => boolean;
}

/** The workflows in use and their event triggers, as of one version of the catalog. */
export interface Catalog {
  readonly heads: readonly WorkflowHead[];
  readonly eventTriggers: readonly ReadyTrigger[];
}

/** Keeps the catalog in memory and reads it anew when its version has moved. */
export interface CatalogReader {
  current(): Promise<Catalog>;
}

export function catalogReader(deps: Pick<Ports, "tables">): CatalogReader {
  let cached: { version: number; catalog: Promise<Catalog> } | undefined;
  return {
    current: async () => {
      const version = (await deps.tables.get(catalogTable, CATALOG_KEY))?.version ?? 0;
      if (cached?.version !== version) {
        const catalog = allWorkflows(deps).then((heads) => ({
          heads,
          eventTriggers: heads.flatMap(readyTriggers),
        }));
        cached = { version, catalog };
        catalog.catch(() => {
          cached = undefined;
        });
      }
      return cached.catalog;
    },
  };
}

function readyTriggers(head: WorkflowHead): ReadyTrigger[] {
  const topicOf = new Map<string, string>();
  return head.triggers.flatMap((trigger) => {
    if (trigger.type !== "event" || !trigger.enabled) return [];
    const canonical = canonicalTopic(trigger.topic);
    // A workflow that names both spellings of one topic fires once.
    if ((topicOf.get(canonical) ?? trigger.topic) !== trigger.topic) return [];
    topicOf.set(canonical, trigger.topic);
    return [
      {
        workflow: head.name,
        trigger: trigger.name,
        revision: head.revision,
        matches: compileTopicAnySpelling(trigger.topic),
      },
    ];
  });
}

/** Matches events against the triggers of the workflows in use: exactly, by glob, and in either spelling. */
export function triggerMatcher(catalog: CatalogReader, enabled: boolean): Matcher {
  if (!enabled) return { match: async () => [] };
  return {
    match: async (event: EventDraft) => {
      const { eventTriggers } = await catalog.current();
      if (eventTriggers.length === 0) return [];
      return eventTriggers
        .filter((trigger) => trigger.matches(event.topic) && !isOwnLifecycle(event, trigger.workflow))
        .map(({ workflow, trigger, revision }) => ({ workflow, trigger, revision }));
    },
  };
}

const LIFECYCLE = /^(?:run|step)\./;

/** The `run.*` and `step.*` events of a workflow's own runs do not start it again: a glob would never end. */
function isOwnLifecycle(event: EventDraft, workflow: string): boolean {
  return (event.hop ?? 0) > 0 && event.workflow_name === workflow && LIFECYCLE.test(event.topic);
}
