import { expect, test } from "vitest";
import { sharedServer } from "./shared-server.ts";

/** YAML of a step with the given numbers of exports and of exports by a handler. */
const step = (name: string, exports: number, byHandler: number): string => {
  const own = Array.from({ length: exports }, (_, n) => `${name}_e${n}: "v${n}"`).join(", ");
  const handlers = Array.from(
    { length: byHandler },
    (_, n) => `{action: export, name: ${name}_h${n}, value: "h${n}"}`,
  );
  return `  - {name: ${name}, type: bash, command: echo x, exports: {${own}}, on_success: [${handlers.join(", ")}]}`;
};

test("a step can export many values and fails with the reason above the limit", async () => {
  const weft = sharedServer();
  await weft.storeWorkflow(
    `name: many\nsteps:\n${step("most", 60, 15)}\n  - {name: read, type: bash, command: "echo {{most_e59}} {{most_h14}}"}\n${step("over", 60, 40)}`,
  );
  const run = await weft.run({ module: "many" });
  const steps = await weft.steps(run.run_id);
  expect(steps["read"]).toMatchObject({ status: "completed", output: "v59 h14" });
  expect(steps["over"]).toMatchObject({
    status: "failed",
    error_message: expect.stringMatching(/more than 80 values/),
  });
  expect(run).toMatchObject({ status: "failed", completed_steps: 2 });
});
