import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Length of a clock tick, the unit of `utime`: 10 ms on every Linux that Node supports. */
const TICK_MS = 10;
const KB_PER_MB = 1024;

/** The text of a file in `/proc/PID`, or `undefined` if the process has ended. */
function proc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

/** Fields of `/proc/PID/stat` after the name, which may contain any character; the first field is the state. */
function statOf(pid: number): string[] | undefined {
  const text = proc(pid, "stat");
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Ids of a process and its living descendants. Throws without /proc. */
export function treeOf(root: number): number[] {
  if (process.platform !== "linux") throw new Error("the benchmarks read /proc: they run on Linux");
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? Number(statOf(pid)?.[1]) : Number.NaN;
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [root];
  for (let at = 0; at < tree.length; at += 1) tree.push(...(children.get(tree[at] ?? 0) ?? []));
  return tree;
}

/** Ids of a process and its descendants that run the same program. */
export function programsOf(root: number): number[] {
  const program = programOf(root);
  return treeOf(root).filter((pid) => programOf(pid) === program);
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** CPU time of a process and its descendants so far, including ended ones, milliseconds. */
export function cpuMs(root: number): number {
  const ticks = treeOf(root).map((pid) => {
    const [utime = 0, stime = 0, ended = 0, endedSystem = 0] = (statOf(pid) ?? []).slice(11, 15).map(Number);
    return utime + stime + ended + endedSystem;
  });
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_MS;
}

export interface Memory {
  readonly processes: number;
  /** Memory with shared pages counted once: for a mapped file, the largest share that one process holds. */
  readonly mb: number;
  /** Sum of the resident set sizes. */
  readonly rssMb: number;
}

/**
 * Memory of a process and its descendants without regard to other processes. The kernel's PSS would attribute part of
 * the program's pages to the benchmark's own Node processes.
 */
export function memoryOf(root: number): Memory {
  let processes = 0;
  let anonymous = 0;
  let rss = 0;
  const files = new Map<string, number>();
  for (const pid of treeOf(root)) {
    const text = proc(pid, "smaps");
    if (text === undefined) continue;
    processes += 1;
    for (const { file, rssKb, anonymousKb } of mappingsIn(text)) {
      rss += rssKb;
      anonymous += anonymousKb;
      files.set(file, Math.max(files.get(file) ?? 0, rssKb - anonymousKb));
    }
  }
  const shared = [...files.values()].reduce((sum, kb) => sum + kb, 0);
  return { processes, mb: (anonymous + shared) / KB_PER_MB, rssMb: rss / KB_PER_MB };
}

interface Mapping {
  /** Device, inode and offset of the mapping. */
  readonly file: string;
  readonly rssKb: number;
  readonly anonymousKb: number;
}

function mappingsIn(smaps: string): Mapping[] {
  const heads = /^[0-9a-f]+-[0-9a-f]+ \S+ (\S+ \S+ \d+)[\s\S]*?^Rss: +(\d+)[\s\S]*?^Anonymous: +(\d+)/gm;
  return [...smaps.matchAll(heads)].map(([, file = "", rss, anonymous]) => ({
    file,
    rssKb: Number(rss),
    anonymousKb: Number(anonymous),
  }));
}

/**
 * Measures peak memory with the kernel's VmHWM, which includes short peaks. The returned function gives the sum over
 * a process and its descendants of each one's peak above its current memory, MB.
 */
export function peakOf(root: number): () => number {
  const before = new Map<number, number>();
  for (const pid of treeOf(root)) {
    // Resets VmHWM.
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    before.set(pid, statusKb(pid, "VmRSS"));
  }
  return () =>
    treeOf(root).reduce((sum, pid) => {
      return sum + Math.max(0, statusKb(pid, "VmHWM") - (before.get(pid) ?? 0));
    }, 0) / KB_PER_MB;
}

function statusKb(pid: number, name: "VmRSS" | "VmHWM"): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(proc(pid, "status") ?? "")?.[1] ?? 0);
}

/** Number of open file descriptors of processes; 0 for ended ones. */
export function openFilesOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + readdirSync(`/proc/${pid}/fd`).length;
    } catch {
      return sum;
    }
  }, 0);
}

const QUIET_MS = 300;
const QUIET_WINDOWS = 3;
/** Maximum CPU time of an idle server's timers in one window, also on a busy machine. */
const QUIET_CPU_MS = 3 * TICK_MS;

/** Waits until a process and its descendants are idle. Returns when that began, by `performance.now()`. */
export async function untilQuiet(root: number, timeoutMs: number): Promise<number> {
  const end = performance.now() + timeoutMs;
  let since = performance.now();
  for (let quiet = 0; quiet < QUIET_WINDOWS; ) {
    const before = cpuMs(root);
    await sleep(QUIET_MS);
    if (cpuMs(root) - before <= QUIET_CPU_MS) {
      quiet += 1;
    } else {
      quiet = 0;
      since = performance.now();
    }
    if (performance.now() > end) throw new Error(`the server is still busy after ${timeoutMs} ms`);
  }
  return since;
}
