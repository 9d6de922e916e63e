import type { ViteUserConfig } from "vitest/config";

type TestOptions = NonNullable<ViteUserConfig["test"]>;

/** Options of every suite. */
export const testDefaults = {
  root: new URL("..", import.meta.url).pathname,
  pool: "forks",
  // Its default of one second is too short for a busy machine.
  expect: { poll: { timeout: 20_000 } },
  // CI runs thousands of tests with real processes and clocks: a test that fails there is repeated once, and
  // checks/totals.ts lists it with its first error. The counterexample of a property is a defect, however rare.
  retry: { count: process.env.CI === undefined ? 0 : 1, condition: /^(?!Property failed)/ },
} satisfies TestOptions;
