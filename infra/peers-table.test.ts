import { expect, test } from "vitest";
import { peersTable } from "./peers-table.ts";

const common = { name: "A", durability: "on disk", at: "2026-01-02", cores: 2 };

test("a product has its figures, or the reason why it has none", () => {
  const figures = {
    effect_p50_ms: 1,
    effect_p99_ms: 2,
    step_ms: 3,
    burst_ms: 4,
    unfinished_at_kill: 5,
    lost: 0,
    duplicated: 6,
  };
  const rows = peersTable([
    { ...common, version: "1.2.3", figures },
    { ...common, name: "B", reason: "its installation downloads from b.example, which cannot be reached" },
  ]).split("\n");
  expect(rows).toHaveLength(4);
  expect(rows[2]).toBe("| A (1.2.3) | on disk | 1; 2 ms | 3 ms | 4 ms | 5, 0, 6 | 2026-01-02, 2 |");
  expect(rows[3]).toMatch(/^\| B \| not measured: its installation .* b\.example/);
});
