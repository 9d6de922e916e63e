import { createHash } from "node:crypto";
import { PlatformFault } from "../faults.ts";
import { FIRE_QUEUE, SCHEDULE_RULES, type Scheduler } from "../scheduler.ts";
import { toAwsCron } from "./cron.ts";
import { withFaults } from "./faults.ts";
import type { EventBridge } from "./services.ts";
import { withStackName } from "./table-layout.ts";

/** Maximum number of rules per installation. An account has 300 on its default bus, shared with other applications. */
export const SCHEDULE_RULES_MAX = 100;
/** Maximum length of a rule's name in EventBridge. */
const NAME_CHARACTERS = 64;
const HASH_CHARACTERS = 12;
const HASH = new RegExp(`^[0-9a-f]{${HASH_CHARACTERS}}$`);
/** How long a request waits for its rules, in milliseconds. */
const ENSURE_MS = 3_000;
const PAGE = 100;
const TARGET_ID = "queue";

/** Set on a rule after its target: a rule without it is incomplete. */
const DESCRIPTION = "Triggers the firing of the schedules with this expression";

/** By name: whether the rule is complete. */
type Rules = Map<string, boolean>;

/**
 * The scheduler port over EventBridge: one scheduled rule per distinct EventBridge expression, shared by all schedules
 * with that expression, on the account's default bus. Rule names consist of the stack and a hash of the expression. The
 * template's rule of each minute covers what these rules cannot.
 */
export function awsScheduler(options: {
  readonly eventbridge: EventBridge;
  readonly stack: string;
  readonly sweepTimers: (now: number) => Promise<number>;
  /** Time limit of `ensure`, in milliseconds. */
  readonly ensureMs?: number;
}): Scheduler {
  const { eventbridge, stack, sweepTimers, ensureMs = ENSURE_MS } = options;
  const prefix = withStackName(stack, SCHEDULE_RULES);
  const isNamed = prefix.length + HASH_CHARACTERS <= NAME_CHARACTERS;

  /** The rules for five-field expressions, by name. */
  const rulesFor = (expressions: readonly string[]): Map<string, string> => {
    const rules = expressions.flatMap(toAwsCron).map((expression) => {
      const hash = createHash("sha256").update(expression).digest("hex").slice(0, HASH_CHARACTERS);
      return [`${prefix}${hash}`, expression] as const;
    });
    return new Map(rules);
  };

  const list = async (abortSignal?: AbortSignal): Promise<Rules> => {
    const { client, ListRulesCommand } = await eventbridge();
    const rules: Rules = new Map();
    let NextToken: string | undefined;
    do {
      const page = new ListRulesCommand({
        NamePrefix: prefix,
        Limit: PAGE,
        ...(NextToken === undefined ? {} : { NextToken }),
      });
      const answer = await withFaults(() => client.send(page, within(abortSignal)));
      for (const { Name = "", Description } of answer.Rules ?? []) {
        // The prefix also matches rules of stacks whose name starts with this stack's name.
        if (HASH.test(Name.slice(prefix.length))) rules.set(Name, Description === DESCRIPTION);
      }
      NextToken = answer.NextToken;
    } while (NextToken !== undefined);
    return rules;
  };

  const put = async (Name: string, ScheduleExpression: string, abortSignal?: AbortSignal): Promise<void> => {
    const { client, PutRuleCommand, PutTargetsCommand } = await eventbridge();
    const rule = (more: { readonly Description?: string }) => {
      const command = new PutRuleCommand({ Name, ScheduleExpression, State: "ENABLED", ...more });
      return withFaults(() => client.send(command, within(abortSignal)));
    };
    const { RuleArn = "" } = await rule({});
    const Targets = [{ Id: TARGET_ID, Arn: queueArn(RuleArn, withStackName(stack, FIRE_QUEUE)) }];
    const targets = new PutTargetsCommand({ Rule: Name, Targets });
    const { FailedEntries = [] } = await withFaults(() => client.send(targets, within(abortSignal)));
    const [refused] = FailedEntries;
    if (refused !== undefined) {
      throw new Error(
        `EventBridge rejected the target of ${Name}: ${refused.ErrorMessage ?? refused.ErrorCode}`,
      );
    }
    await rule({ Description: DESCRIPTION });
  };

  const remove = async (Name: string): Promise<void> => {
    const { client, DeleteRuleCommand, RemoveTargetsCommand } = await eventbridge();
    await unlessGone(() => client.send(new RemoveTargetsCommand({ Rule: Name, Ids: [TARGET_ID] })));
    await unlessGone(() => client.send(new DeleteRuleCommand({ Name })));
  };

  const add = async (
    wanted: ReadonlyMap<string, string>,
    there: Rules,
    abortSignal?: AbortSignal,
  ): Promise<void> => {
    const halfMade = [...wanted].filter(([name]) => there.get(name) === false);
    const missing = [...wanted].filter(([name]) => !there.has(name));
    const room = Math.max(0, SCHEDULE_RULES_MAX - there.size);
    await forEach([...halfMade, ...missing.slice(0, room)], ([name, expression]) =>
      put(name, expression, abortSignal),
    );
  };

  return {
    ensure: async (expressions) => {
      const wanted = rulesFor(expressions);
      if (wanted.size === 0 || !isNamed) return;
      const signal = AbortSignal.timeout(ensureMs);
      try {
        await add(wanted, await list(signal), signal);
      } catch (cause) {
        if (!signal.aborted) throw cause;
        throw new PlatformFault("unavailable", `the rules were not created within ${ensureMs} ms`, { cause });
      }
    },
    reconcile: async (expressions) => {
      if (!isNamed) return;
      const wanted = rulesFor(expressions);
      const there = await list();
      await forEach(
        [...there.keys()].filter((name) => !wanted.has(name)),
        async (name) => {
          await remove(name);
          there.delete(name);
        },
      );
      await add(wanted, there);
    },
    sweepTimers,
  };
}

const within = (abortSignal: AbortSignal | undefined) => (abortSignal === undefined ? {} : { abortSignal });

/** The queue is in the rule's account and region. */
function queueArn(ruleArn: string, queue: string): string {
  const [arn, partition, , region, account] = ruleArn.split(":");
  if (account === undefined) throw new Error(`EventBridge returned an unknown rule: "${ruleArn}"`);
  return [arn, partition, "sqs", region, account, queue].join(":");
}

/**
 * Runs sequentially. A rejected item does not stop the others; throws at the end, or at once if no item can succeed.
 */
async function forEach<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const refused: unknown[] = [];
  for (const item of items) {
    try {
      await act(item);
    } catch (error) {
      if (error instanceof PlatformFault) throw error;
      refused.push(error);
    }
  }
  if (refused.length > 0) throw refused[0];
}

async function unlessGone(call: () => Promise<unknown>): Promise<void> {
  try {
    await withFaults(call);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ResourceNotFoundException") throw error;
  }
}
