import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { longestFirst } from "./longest-first.ts";
import { testDefaults } from "./vitest-defaults.ts";

/** Tests with a browser: Debian's Chromium, or the one that `CHROMIUM` names. */
export default defineConfig({
  test: {
    ...testDefaults,
    include: ["tests/browser/*.browser.ts"],
    globalSetup: "tests/browser/vitest-setup.ts",
    // For tests that hang: a page is slow on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each file has its own server and browser, which wait for each other.
    maxWorkers: availableParallelism(),
    sequence: {
      sequencer: longestFirst([
        "web-interface.browser.ts",
        "documents.browser.ts",
        "editor.browser.ts",
        "notifications.browser.ts",
        "local-data.browser.ts",
        "events.browser.ts",
        "hostile-content.browser.ts",
      ]),
    },
  },
});
