import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** `utime` and the like count in these: 100 a second on every Linux that Node runs on. */
const TICK_MS = 10;
const KB_PER_MB = 1024;

/** The text of a file below /proc, or undefined where the process is gone. */
function proc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

/** Fields of `/proc/PID/stat` after the name, which may hold anything: the state is the first. */
function statOf(pid: number): string[] | undefined {
  const text = proc(pid, "stat");
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** A process and all below it that live now. Throws where there is no /proc. */
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

/** A process and those below it that run the same program. */
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

/** CPU time that a process and all below it took so far, those that are gone included, milliseconds. */
export function cpuMs(root: number): number {
  const ticks = treeOf(root).map((pid) => {
    const [utime = 0, stime = 0, ended = 0, endedSystem = 0] = (statOf(pid) ?? []).slice(11, 15).map(Number);
    return utime + stime + ended + endedSystem;
  });
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_MS;
}

export interface Memory {
  readonly processes: number;
  /** Every page once: of files that several processes map, as much as the one that holds the most of it. */
  readonly mb: number;
  /** The sum of what each process holds. */
  readonly rssMb: number;
}

/**
 * Memory of a process and all below it, as if no other process were there: the kernel's PSS would give part of the
 * program's pages to the benchmark's own processes of Node.
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
  /** Device, inode and offset. */
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
 * Watches the most that a process and all below it hold, from now on: by the kernel's own account, so nothing is too
 * short to be seen. Answers how much more than now that was, MB; each process at its own worst moment.
 */
export function peakOf(root: number): () => number {
  const before = new Map<number, number>();
  for (const pid of treeOf(root)) {
    // Forgets the peaks of before.
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

/** Open file descriptors of processes; of those that are gone none. */
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
/** What timers of an idle server may take in one window, also where the machine is busy with others. */
const QUIET_CPU_MS = 3 * TICK_MS;

/** Waits until a process and all below it have nothing to do; answers when that began, by `performance.now()`. */
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
