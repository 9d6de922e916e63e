import { readFileSync } from "node:fs";

/** Indexes, after the name, of the fields of `/proc/PID/stat` that give these addresses. */
const ARGS_START = 45;
const ENV_START = 47;

/** A part of a process's memory. */
export interface Region {
  readonly start: number;
  readonly length: number;
}

/** Where the arguments and the initial environment of a process are; `/proc` shows them from there. */
export interface ProcessRegions {
  readonly args: Region;
  readonly env: Region;
}

/** Lengths are 0 if the system does not permit to know them. Linux only; throws if the process has ended. */
export function readRegions(pid: number | "self"): ProcessRegions {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const regionAt = (index: number): Region => {
    const start = Number(fields[index]);
    return { start, length: Number(fields[index + 1]) - start };
  };
  return { args: regionAt(ARGS_START), env: regionAt(ENV_START) };
}
