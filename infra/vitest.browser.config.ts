import { defineConfig } from "vitest/config";
import { testDefaults } from "./vitest-defaults.ts";

/** Tests with a browser: Debian's Chromium, or the one that `CHROMIUM` names. */
export default defineConfig({
  test: {
    ...testDefaults,
    include: ["tests/browser/*.browser.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});
