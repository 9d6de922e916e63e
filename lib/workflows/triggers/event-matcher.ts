import type { EventDraft, Matcher, MatchResult } from "../../events/publish.ts";
import type { RunBudget } from "../runs/run-budget.ts";
import type { CatalogReader, ReadyTrigger } from "../store/catalog.ts";
import type { FireTriggers, MatcherDeps } from "./fire-triggers.ts";
import type { RateBreaker } from "./rate-breaker.ts";

const NOTHING: MatchResult = { matches: [], notes: [], writes: [] };

export interface MatcherOptions {
  readonly enabled: boolean;
  readonly budget: RunBudget;
  readonly fire: FireTriggers;
}

/**
 * Matches events against the triggers of active workflows: by topic (exact, glob, either spelling), then with `fire` by
 * filters and by deduplication key.
 */
export function triggerMatcher(
  deps: MatcherDeps,
  catalog: CatalogReader,
  breaker: RateBreaker,
  { enabled, budget, fire }: MatcherOptions,
): Matcher {
  const { admit } = budget;
  if (!enabled)
    return { match: async () => NOTHING, triggersAtMost: async (events) => events.map(() => 0), admit };
  const fittingOf = (eventTriggers: readonly ReadyTrigger[], event: EventDraft): readonly ReadyTrigger[] =>
    eventTriggers.filter(
      (trigger) => trigger.matches(event.topic) && !isOwnLifecycle(event, trigger.workflow),
    );
  return {
    admit,
    triggersAtMost: async (events) => {
      const { eventTriggers } = await catalog.current();
      return events.map((event) => fittingOf(eventTriggers, event).length);
    },
    match: async (event, earlier, writesMax) => {
      const fitting = fittingOf((await catalog.current()).eventTriggers, event);
      return fitting.length === 0 ? NOTHING : fire(deps, breaker, event, fitting, { earlier, writesMax });
    },
  };
}

const LIFECYCLE = /^(?:run|step)\./;

/** Lifecycle events of a workflow's own runs do not trigger it: a glob would cause an endless loop. */
export function isOwnLifecycle(
  event: Pick<EventDraft, "hop" | "workflow_name" | "topic">,
  workflow: string,
): boolean {
  return (event.hop ?? 0) > 0 && event.workflow_name === workflow && LIFECYCLE.test(event.topic);
}
