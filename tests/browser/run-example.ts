import type { Locator, Page } from "@playwright/test";
import type { TestServer } from "../../lib/testing/test-server.ts";

/** A workflow with a loop of which an item fails, and a step that fails unless the mode is another one. */
export const AUDIT = `name: audit
params: [{name: mode, default: broken}]
steps:
  - {name: fetch, type: bash, command: "printf '\\\\033[32mgreen\\\\033[0m <b>text</b> {{mode}}\\\\n'"}
  - {name: hosts, type: foreach, input: [a, b, c], variable: h, on_error: [{action: continue}], step: {name: probe, type: bash, command: "test [[h]] != b && echo [[h]] answers"}}
  - {name: upload, type: bash, command: "test {{mode}} != broken && test ! -e stop || { touch ok; echo no bucket >&2; exit 3; }"}
  - {name: report, type: bash, command: "echo reported"}
`;

/** Runs it, and returns the id of the run, which has failed. */
export const failAudit = async (server: TestServer): Promise<string> =>
  (await server.run({ module: "audit", target: "t" })).run_uuid;

/** The panel beside the views of a run. */
export const panelOf = (page: Page, name: string): Locator => page.getByRole("complementary", { name });
