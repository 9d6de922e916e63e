/** The part of BullMQ that the benchmark uses: it is not a dependency of this project. */
export interface Job {
  readonly data: { readonly command?: string; readonly left?: number };
}

export interface Queue {
  add(name: string, data: Job["data"]): Promise<unknown>;
  getJobCounts(...types: string[]): Promise<Record<string, number>>;
  close(): Promise<void>;
  on(event: "error", listener: () => void): void;
}

interface Worker {
  on(event: "error", listener: () => void): void;
  waitUntilReady(): Promise<unknown>;
}

interface Options {
  readonly connection: { readonly path: string; readonly maxRetriesPerRequest: null };
  readonly concurrency?: number;
}

export interface BullMq {
  readonly Queue: new (name: string, options: Options) => Queue;
  readonly Worker: new (name: string, process: (job: Job) => Promise<void>, options: Options) => Worker;
}
