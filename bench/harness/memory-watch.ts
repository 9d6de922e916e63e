import { type Memory, memoryOf } from "./processes.ts";

const EVERY_MS = 400;

/** Samples the memory of a process and its descendants until `stop`, which returns the maximum of each field. */
export function watchMemory(root: number): { stop(): Memory } {
  let most: Memory = memoryOf(root);
  const look = (): void => {
    const now = memoryOf(root);
    most = {
      processes: Math.max(most.processes, now.processes),
      mb: Math.max(most.mb, now.mb),
      rssMb: Math.max(most.rssMb, now.rssMb),
    };
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most;
    },
  };
}
