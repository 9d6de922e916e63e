import { readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTemporaryFolder } from "../harness/cleanup.ts";
import { median, percentile } from "../harness/numbers.ts";
import type { Peer, RunningPeer } from "./peer.ts";

const EVENTS = 200;
const WARM_UP = 10;
const APART_MS = 25;
const STEPS = 200;
const STEP_ROUNDS = 3;
const BURST = 200;
const EFFECT_MAX_MS = 30_000;
/** BullMQ looks for the jobs of a dead worker every 30 s, and they are locked for 30 s. */
const RECOVERY_MAX_MS = 75_000;
const REST_MS = 2_000;
const LOOK_EVERY_MS = 100;

/** What a product did. Milliseconds, except counts. */
export interface PeerFigures {
  readonly effect_p50_ms: number;
  readonly effect_p99_ms: number;
  readonly step_ms: number;
  readonly burst_ms: number;
  /** Acknowledged events whose effect had not happened when all processes were killed. */
  readonly unfinished_at_kill: number;
  /** Acknowledged events without an effect after the restart. */
  readonly lost: number;
  /** Effects beyond the first of an event. */
  readonly duplicated: number;
}

/** Runs the same work on a product. Its processes are ended by the clean-up. */
export async function measurePeer(peer: Peer, installed: string, brief: boolean): Promise<PeerFigures> {
  const data = createTemporaryFolder("peer");
  const path = join(data, "journal");
  writeFileSync(path, "");
  using journal = openJournal(path);
  const running = await peer.start({ installed, data, journal: path });
  const times: number[] = [];
  const events = brief ? WARM_UP : EVENTS;
  for (let number = -WARM_UP; number < events; number += 1) {
    const seq = `e${number + WARM_UP}`;
    const done = journal.has(seq);
    const sentAt = performance.now();
    await running.emit(seq);
    const doneAt = await done;
    if (number >= 0) times.push(doneAt - sentAt);
    await sleep(APART_MS);
  }
  const steps = brief ? WARM_UP : STEPS;
  const rounds: number[] = [];
  await running.runSteps(steps);
  for (let round = 0; round < (brief ? 1 : STEP_ROUNDS); round += 1)
    rounds.push((await running.runSteps(steps)) / steps);
  const startedAt = performance.now();
  const burst = await emitAll(running, journal, "b", brief ? WARM_UP : BURST);
  const last = Math.max(...(await Promise.all(burst)));
  return {
    effect_p50_ms: percentile(times, 0.5),
    effect_p99_ms: percentile(times, 0.99),
    step_ms: median(rounds),
    burst_ms: last - startedAt,
    ...(await killDuringWork(running, journal, brief ? WARM_UP : BURST)),
  };
}

/**
 * Kills all processes when all events are acknowledged, most of them without an effect yet, starts them again, and
 * counts the effects.
 */
async function killDuringWork(running: RunningPeer, journal: Journal, count: number) {
  const effects = await emitAll(running, journal, "k", count);
  for (const effect of effects) effect.catch(() => {});
  await running.kill();
  // Commands that had started end by themselves where nothing ends them.
  await sleep(REST_MS);
  const before = journal.lines("k").length;
  await running.restart();
  const end = performance.now() + RECOVERY_MAX_MS;
  while (new Set(journal.lines("k")).size < count && performance.now() < end) await sleep(LOOK_EVERY_MS);
  // For effects that happen twice.
  await sleep(REST_MS);
  const lines = journal.lines("k");
  const distinct = new Set(lines).size;
  return {
    unfinished_at_kill: count - before,
    lost: count - distinct,
    duplicated: lines.length - distinct,
  };
}

async function emitAll(running: RunningPeer, journal: Journal, prefix: string, count: number) {
  const names = Array.from({ length: count }, (_, at) => `${prefix}${at}`);
  const effects = names.map((name) => journal.has(name));
  await Promise.all(names.map((name) => running.emit(name)));
  return effects;
}

interface Journal extends Disposable {
  /** Resolves with the time of the effect, by `performance.now()`. */
  has(seq: string): Promise<number>;
  /** The numbers that begin with the prefix, in the order of their effects. */
  lines(prefix: string): string[];
}

function openJournal(path: string): Journal {
  const waiting = new Map<string, (at: number) => void>();
  const read = (): string[] => readFileSync(path, "utf8").split("\n");
  const watcher = watch(path, () => {
    const at = performance.now();
    for (const line of read()) {
      waiting.get(line)?.(at);
      waiting.delete(line);
    }
  });
  return {
    has: (seq) => {
      const came = new Promise<number>((resolve) => waiting.set(seq, resolve));
      const late = sleep(EFFECT_MAX_MS, undefined, { ref: false }).then(() => {
        throw new Error(`the effect of ${seq} did not come`);
      });
      return Promise.race([came, late]);
    },
    lines: (prefix) => read().filter((line) => line.startsWith(prefix)),
    [Symbol.dispose]: () => watcher.close(),
  };
}
