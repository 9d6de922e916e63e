import { PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import * as Y from "yjs";
import type { EditorsPlan, EditorsReport } from "./editors.ts";
import { percentile } from "./numbers.ts";

// Numbers of Hocuspocus' messages and of y-protocols' sync messages.
const SYNC = 0;
const AUTH = 2;
const SYNC_STATUS = 8;
const [STEP_1, STEP_2, UPDATE] = [0, 1, 2];
const READY_MS = 60_000;
/** Each update contains a marker: its number behind this text. */
const MARKER = Buffer.from("@@");
const MARKER_DIGITS = 9;
/** Updates in flight per writer that writes as fast as they are acknowledged. */
const IN_FLIGHT = 16;
const DRAIN_MS = 5_000;
const FIRST_MS = 1_000;

function varUint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left & 0x7f) | 0x80);
  return [...bytes, left];
}
const sized = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from(varUint(bytes.length)), bytes]);

class Editor {
  readonly #socket: WebSocket;
  readonly #plan: EditorsPlan;
  readonly #name: Buffer;
  readonly #doc = new Y.Doc();
  #update: Uint8Array = new Uint8Array();
  acknowledged = 0;
  sent = 0;
  received = 0;
  onAcknowledged = (): void => {};

  private constructor(plan: EditorsPlan, room: string) {
    this.#plan = plan;
    this.#name = sized(Buffer.from(room));
    this.#doc.on("update", (update: Uint8Array) => {
      this.#update = update;
    });
    this.#socket = new WebSocket(`${plan.url}?room=${room}`, {
      headers: plan.headers,
      perMessageDeflate: false,
    });
  }

  static async open(
    plan: EditorsPlan,
    room: string,
    onMarker: (number: number, by: Editor) => void,
  ): Promise<Editor> {
    const editor = new Editor(plan, room);
    const socket = editor.#socket;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = setTimeout(() => reject(new Error(`an editor of ${room} is not ready`)), READY_MS);
    socket.on("error", reject);
    socket.on("close", (code, reason) => reject(new Error(`a connection closed: ${code} ${reason}`)));
    socket.on("open", () => {
      if (plan.framing === "relay") resolve();
      else editor.#authenticate();
    });
    socket.on("message", (data: Buffer) => {
      if (plan.framing !== "relay") editor.#receive(data, resolve);
      for (let at = data.indexOf(MARKER); at >= 0; at = data.indexOf(MARKER, at + 1)) {
        editor.received += 1;
        const digits = data.toString("latin1", at + MARKER.length, at + MARKER.length + MARKER_DIGITS);
        onMarker(Number(digits), editor);
      }
    });
    await promise.finally(() => clearTimeout(late));
    return editor;
  }

  write(number: number): void {
    const text = this.#doc.getText(`writer-${this.#doc.clientID}`);
    text.insert(text.length, `${MARKER}${String(number).padStart(MARKER_DIGITS, "0")}........`);
    this.sent += 1;
    this.#send(SYNC, UPDATE, this.#update);
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.on("close", () => {});
    this.#socket.close();
  }

  #authenticate(): void {
    const token = sized(Buffer.from(this.#plan.token));
    this.#socket.send(
      Buffer.concat([this.#name, Buffer.from([AUTH, 0]), token, sized(Buffer.from("4.8.0"))]),
    );
    this.#send(SYNC, STEP_1, Y.encodeStateVector(this.#doc));
  }

  #send(type: number, step: number, bytes: Uint8Array): void {
    this.#socket.send(Buffer.concat([this.#name, Buffer.from([type, step]), sized(bytes)]));
  }

  #receive(data: Buffer, ready: () => void): void {
    const at = this.#name.length;
    const [type, step] = [data[at], data[at + 1]];
    if (type === SYNC_STATUS) {
      this.acknowledged += 1;
      this.onAcknowledged();
    } else if (type === SYNC && step === STEP_2) ready();
  }
}

async function run(plan: EditorsPlan): Promise<void> {
  const started = new Map<number, { readonly at: number; readonly by: Editor }>();
  const latencies: number[] = [];
  const firstLatencies: number[] = [];
  const laterLatencies: number[] = [];
  let measuring = false;
  let startedMs = 0;
  let gcMs = 0;
  const gc = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      if (measuring && startTime > startedMs) gcMs += duration;
  });
  gc.observe({ entryTypes: ["gc"] });
  // Hocuspocus returns an update to its sender: that is not an arrival.
  const onMarker = (number: number, by: Editor): void => {
    const sent = started.get(number);
    if (sent === undefined || sent.by === by || !measuring) return;
    const latency = performance.now() - sent.at;
    latencies.push(latency);
    const which = sent.at < startedMs + FIRST_MS ? firstLatencies : laterLatencies;
    which.push(latency);
  };
  const writers: Editor[] = [];
  const readers: Editor[] = [];
  const openAll = async (into: Editor[], each: number): Promise<void> => {
    const names = plan.rooms.flatMap((room) => Array.from({ length: each }, () => room));
    for (let at = 0; at < names.length; at += 20)
      into.push(
        ...(await Promise.all(names.slice(at, at + 20).map((room) => Editor.open(plan, room, onMarker)))),
      );
  };
  const openedAt = performance.now();
  await openAll(writers, plan.writersPerRoom);
  await openAll(readers, plan.readersPerRoom);
  process.send?.({ readyMs: performance.now() - openedAt });
  const begin = await new Promise<string>((resolve) =>
    process.once("message", (one) => resolve(String(one))),
  );
  if (begin === "measure") {
    let number = 0;
    const end = performance.now() + plan.seconds * 1000;
    startedMs = performance.now();
    measuring = true;
    const write = (editor: Editor): void => {
      number += 1;
      started.set(number, { at: performance.now(), by: editor });
      editor.write(number);
    };
    if (plan.rate > 0)
      await Promise.all(
        writers.map(async (editor, index) => {
          const apart = 1000 / plan.rate;
          let due = startedMs + (index / writers.length) * apart;
          while (due < end) {
            await sleep(Math.max(0, due - performance.now()));
            write(editor);
            due += apart;
          }
        }),
      );
    else {
      for (const editor of writers) {
        editor.onAcknowledged = () => {
          if (performance.now() < end) write(editor);
        };
        for (let n = 0; n < IN_FLIGHT; n += 1) write(editor);
      }
      await sleep(plan.seconds * 1000);
    }
    const elapsed = (performance.now() - startedMs) / 1000;
    const acknowledgedInTime = sum(writers, (editor) => editor.acknowledged);
    const drainedBy = performance.now() + DRAIN_MS;
    while (plan.framing !== "relay" && performance.now() < drainedBy) {
      if (sum(writers, (editor) => editor.acknowledged) >= sum(writers, (editor) => editor.sent)) break;
      await sleep(20);
    }
    await sleep(200);
    const sent = sum(writers, (editor) => editor.sent);
    const report: EditorsReport = {
      sent,
      acknowledged: sum(writers, (editor) => editor.acknowledged),
      received: sum([...writers, ...readers], (editor) => editor.received),
      perSecond: (plan.rate > 0 ? sent : acknowledgedInTime) / elapsed,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      firstP99: percentile(firstLatencies, 0.99),
      laterP99: percentile(laterLatencies, 0.99),
      editorsGcMs: gcMs,
    };
    process.send?.({ report });
    await new Promise((resolve) => process.once("message", resolve));
  }
  for (const editor of [...writers, ...readers]) editor.close();
  await sleep(200);
  process.exit(0);
}

const sum = (editors: readonly Editor[], of: (editor: Editor) => number): number =>
  editors.reduce((total, editor) => total + of(editor), 0);

process.once("message", (plan) => {
  run(plan as EditorsPlan).catch((error: unknown) => {
    process.send?.({ fault: String(error) });
    process.exit(1);
  });
});
