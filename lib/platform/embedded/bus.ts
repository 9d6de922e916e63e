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

/** The message of an envelope, whose size counts. Throws `limit_exceeded` above 1 MB. */
function bodyOf(event: BusEnvelope): string {
  const body = JSON.stringify(event);
  if (exceedsLimit("busEntryBytes", body)) {
    throw limitFault("busEntryBytes", `the event ${event["detail-type"]}`, Buffer.byteLength(body));
  }
  return body;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields that a pattern can test without an envelope. */
const ENTRY_FIELDS: ReadonlySet<string> = new Set(["source", "detail-type", "detail"]);

interface CompiledRule extends RuleResource {
  /** Whether the pattern tests fields that only the envelope has. */
  readonly needsEnvelope: boolean;
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
    needsEnvelope: Object.keys(rule.pattern).some((field) => !ENTRY_FIELDS.has(field)),
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

  // One entry per source, and per type of its events or commands.
  const heard = new Map<string, Map<string, readonly CompiledRule[]>>();
  const rulesOf = (source: string, detailType: string): readonly CompiledRule[] => {
    const known = heard.get(source)?.get(detailType);
    if (known !== undefined) return known;
    const found = rules.filter(({ hears }) => hears({ source, "detail-type": detailType }));
    const ofSource = heard.get(source) ?? new Map<string, readonly CompiledRule[]>();
    heard.set(source, ofSource.set(detailType, found));
    return found;
  };
  /** `waiting` are the queues that an earlier entry of the same commit wakes, by detail type. */
  const prepareOne = (entry: BusEntry, waiting: Set<string>): PreparedSend[] => {
    const { source, detailType, detail } = entry;
    const heardBy = rulesOf(source, detailType);
    let made: BusEnvelope | undefined;
    const event = (): BusEnvelope => {
      made ??= envelope(clock.now(), source, detailType, [], detail);
      return made;
    };
    let text: string | undefined;
    const body = (): string => {
      text ??= bodyOf(event());
      return text;
    };
    const needsEnvelope = heardBy.some((rule) => rule.needsEnvelope);
    const fields: Fields = needsEnvelope ? { ...event() } : { source, "detail-type": detailType, detail };
    const matching = heardBy.filter(({ matches }) => matches(fields));
    // Its size is checked even if nobody receives it.
    if (matching.length === 0) body();
    return matching.flatMap(({ name, queues: targets }) =>
      targets.flatMap((target) => {
        if (queues.coalesces(target, detailType)) {
          const mark = `${detailType} ${target}`;
          if (waiting.has(mark)) return [];
          waiting.add(mark);
        }
        const message = (): OutgoingMessage => ruleMessage(body(), name, queues.isFifo(target));
        return queues.prepareEvent(target, detailType, message);
      }),
    );
  };
  const prepare = (entries: readonly BusEntry[]): readonly PreparedSend[] => {
    recordValue("busBatchEntries", entries.length);
    const waiting = new Set<string>();
    return entries.flatMap((entry) => prepareOne(entry, waiting));
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
