/** What a benchmark of products stores about one: its figures in milliseconds and counts, or the reason for their absence. */
export interface PeerResult {
  readonly name: string;
  /** When its work is stored. */
  readonly durability: string;
  /** The day of the measurement. */
  readonly at: string;
  readonly cores: number;
  readonly version?: string;
  readonly figures?: Readonly<
    Record<
      | "effect_p50_ms"
      | "effect_p99_ms"
      | "step_ms"
      | "burst_ms"
      | "unfinished_at_kill"
      | "lost"
      | "duplicated",
      number
    >
  >;
  readonly reason?: string;
}

const HEAD = [
  "Product",
  "Stored",
  "Event to effect, p50; p99",
  "A step of 200",
  "Burst of 200: last effect",
  "After kill -9: unfinished, lost, twice",
  "When, cores",
];

/** A row for each product. */
export function peersTable(results: readonly PeerResult[]): string {
  const rows = results.map(({ name, version, durability, figures, reason, at, cores }) => {
    const product = version === undefined ? name : `${name} (${version})`;
    if (figures === undefined) return [product, `not measured: ${reason}`, "", "", "", "", at];
    const { effect_p50_ms, effect_p99_ms, step_ms, burst_ms, unfinished_at_kill, lost, duplicated } = figures;
    return [
      product,
      durability,
      `${effect_p50_ms}; ${effect_p99_ms} ms`,
      `${step_ms} ms`,
      `${burst_ms} ms`,
      `${unfinished_at_kill}, ${lost}, ${duplicated}`,
      `${at}, ${cores}`,
    ];
  });
  return [HEAD, HEAD.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
