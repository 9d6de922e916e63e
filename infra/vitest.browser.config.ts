import { defineConfig } from "vitest/config";

/** Tests with a browser: Debian's Chromium, or the one that `CHROMIUM` names. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["tests/browser/*.browser.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Its default of one second is too short for a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    maxWorkers: 1,
  },
});
