/** Latencies that are remembered between two reports. */
const LATENCIES_MAX = 10_000;

export interface MetricsReport {
  readonly appends: number;
  readonly refusedUpdates: number;
  /** Time from a received update to its write on disk, milliseconds. */
  readonly syncMsP50: number;
  readonly syncMsP99: number;
}

/** Counts updates between two reports. */
export class Metrics {
  #appends = 0;
  #refused = 0;
  #latencies: number[] = [];

  noteAppend(milliseconds: number): void {
    this.#latencies[this.#appends % LATENCIES_MAX] = milliseconds;
    this.#appends += 1;
  }

  noteRefusal(): void {
    this.#refused += 1;
  }

  /** Returns the values since the last report; undefined if nothing was written or refused. */
  report(): MetricsReport | undefined {
    if (this.#appends === 0 && this.#refused === 0) return undefined;
    const sorted = this.#latencies.toSorted((one, other) => one - other);
    const quantile = (share: number): number =>
      Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100) / 100;
    const report = {
      appends: this.#appends,
      refusedUpdates: this.#refused,
      syncMsP50: quantile(0.5),
      syncMsP99: quantile(0.99),
    };
    this.#appends = 0;
    this.#refused = 0;
    this.#latencies = [];
    return report;
  }
}
