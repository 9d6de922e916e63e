import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { addCleanup } from "./cleanup.ts";

const CHILD = fileURLToPath(new URL("./editors-child.ts", import.meta.url));

/** Editors that a child process connects to a collaboration server. */
export interface EditorsPlan {
  /** WebSocket URL without a query. */
  readonly url: string;
  /** `relay`: a server that passes each message to the others of its room. */
  readonly framing: "hocuspocus" | "relay";
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
  readonly rooms: readonly string[];
  readonly writersPerRoom: number;
  readonly readersPerRoom: number;
  /** Updates per second and writer; 0: as fast as they are acknowledged. */
  readonly rate: number;
  readonly seconds: number;
}

export interface EditorsReport {
  readonly sent: number;
  readonly acknowledged: number;
  /** Updates that editors received, the echoes of their own included. */
  readonly received: number;
  /** Updates sent, or acknowledged if there is no rate. */
  readonly perSecond: number;
  /** From sending an update to its arrival at an editor, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** The same of updates sent in the first second, in which rooms and code are new, and of those after it (NaN if none). */
  readonly firstP99: number;
  readonly laterP99: number;
  /** Pauses of the editors' process for its own garbage collection, which are part of the latencies: milliseconds. */
  readonly editorsGcMs: number;
}

/** Connected editors. */
export interface Editors {
  /** Time until all had the content, milliseconds. */
  readonly readyMs: number;
  /** Writes for the plan's seconds. */
  measure(): Promise<EditorsReport>;
  /** Closes the connections. */
  close(): Promise<void>;
}

/** Connects editors from a separate process. Rejects if one is not ready within a minute. */
export async function connectEditors(plan: EditorsPlan): Promise<Editors> {
  const child: ChildProcess = fork(CHILD);
  addCleanup(() => child.kill("SIGKILL"));
  const next = (): Promise<{ report?: EditorsReport; readyMs?: number }> =>
    new Promise((resolve, reject) => {
      child.once("message", (message: { fault?: string; report?: EditorsReport; readyMs?: number }) => {
        if (message.fault === undefined) resolve(message);
        else reject(new Error(message.fault));
      });
      child.once("exit", (code) => reject(new Error(`the editors' process ended with ${code}`)));
    });
  child.send(plan);
  const { readyMs = Number.NaN } = await next();
  return {
    readyMs,
    measure: async () => {
      child.send("measure");
      const { report } = await next();
      if (report === undefined) throw new Error("the editors report nothing");
      return report;
    },
    close: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.send("close");
      await ended;
    },
  };
}
