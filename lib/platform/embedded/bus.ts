import { randomUUID } from "node:crypto";
import type { Bus, BusEntry, BusEnvelope } from "../bus.ts";
import type { Clock } from "../clock.ts";
import { exceedsLimit, recordValue } from "../high-water-marks.ts";
import { limitFault } from "../limits.ts";
import type { OutgoingMessage } from "../queues.ts";
import type { RuleResource } from "../resources.ts";
import { compilePattern } from "./patterns.ts";
import type { EmbeddedQueues, PreparedSend } from "./queues.ts";
import type { Store } from "./store.ts";
import type { Tx } from "./transaction.ts";

export interface EmbeddedBus {
  readonly port: Bus;
  /** The messages of the rules that match the entries. Throws `limit_exceeded` for an entry above 1 MB. */
  prepare(entries: readonly BusEntry[]): readonly PreparedSend[];
  send(tx: Tx, prepared: readonly PreparedSend[]): void;
}

const ACCOUNT = "000000000000";
const REGION = "local";

/** What a rule's target receives; the time has whole seconds, as in EventBridge. */
export function envelope(
  now: number,
  source: string,
  detailType: string,
  resources: readonly string[],
  detail: Readonly<Record<string, unknown>>,
): BusEnvelope {
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": detailType,
    source,
    account: ACCOUNT,
    time: `${new Date(now).toISOString().slice(0, 19)}Z`,
    region: REGION,
    resources,
    detail,
  };
}

/**
 * One message to a rule's queue; on a FIFO queue, all messages of a rule share one group. EventBridge uses
 * content-based deduplication there. Bodies never repeat because every event has its own id, so it is not implemented
 * here.
 */
export function ruleMessage(body: string, rule: string, fifo: boolean): OutgoingMessage {
  return fifo ? { body, groupId: rule } : { body };
}

type Fields = Readonly<Record<string, unknown>>;

interface CompiledRule extends RuleResource {
  readonly matches: (event: Fields) => boolean;
  /** Whether the rule could match an event of this source and type. */
  readonly hears: (event: Fields) => boolean;
}

function compileRule(rule: RuleResource): CompiledRule {
  const { source, "detail-type": detailType } = rule.pattern;
  const head = {
    ...(source === undefined ? {} : { source }),
    ...(detailType === undefined ? {} : { "detail-type": detailType }),
  };
  return {
    ...rule,
    matches: compilePattern(rule.pattern),
    hears: Object.keys(head).length === 0 ? () => true : compilePattern(head),
  };
}

/** The bus port: sends entries at once to the queues of all matching rules. */
export function embeddedBus(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly rules: readonly RuleResource[];
  readonly queues: EmbeddedQueues;
}): EmbeddedBus {
  const { store, clock, queues } = options;
  const rules = options.rules.map(compileRule);
  for (const rule of rules) {
    for (const queue of rule.queues) {
      if (!queues.has(queue))
        throw new TypeError(`the rule ${rule.name} refers to the queue ${queue}, which does not exist`);
    }
  }

  // One entry per type of events and commands.
  const heard = new Map<string, readonly CompiledRule[]>();
  const rulesOf = (source: string, detailType: string): readonly CompiledRule[] => {
    const name = JSON.stringify([source, detailType]);
    const known = heard.get(name);
    if (known !== undefined) return known;
    const found = rules.filter(({ hears }) => hears({ source, "detail-type": detailType }));
    heard.set(name, found);
    return found;
  };
  const prepareOne = ({ source, detailType, detail }: BusEntry): PreparedSend[] => {
    const event = envelope(clock.now(), source, detailType, [], detail);
    const body = JSON.stringify(event);
    // The size includes the envelope, because the envelope must fit into a message.
    if (exceedsLimit("busEntryBytes", body)) {
      throw limitFault("busEntryBytes", `the event ${detailType}`, Buffer.byteLength(body));
    }
    const fields: Readonly<Record<string, unknown>> = { ...event };
    return rulesOf(source, detailType)
      .filter(({ matches }) => matches(fields))
      .flatMap(({ name, queues: targets }) =>
        targets.map((target) =>
          queues.prepareEvent(target, detailType, ruleMessage(body, name, queues.isFifo(target))),
        ),
      );
  };
  const prepare = (entries: readonly BusEntry[]): readonly PreparedSend[] => {
    recordValue("busBatchEntries", entries.length);
    return entries.flatMap(prepareOne);
  };
  const send = (tx: Tx, prepared: readonly PreparedSend[]): void => {
    for (const one of prepared) queues.send(tx, one);
  };
  const port: Bus = {
    publish: async (entries) => {
      const prepared = prepare(entries);
      if (prepared.length > 0) await store.write((tx) => send(tx, prepared));
    },
  };
  return { port, prepare, send };
}
