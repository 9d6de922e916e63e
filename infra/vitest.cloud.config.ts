import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The file that takes longest is first, so that the others do not wait for it at the end. */
const LONGEST = "roles.cloud.ts";

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

const rank = ({ moduleId }: TestSpecification): number => (moduleId.endsWith(LONGEST) ? 0 : 1);

/** Tests against AWS emulators: at `AWS_ENDPOINT_URL`, or started here. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["{lib,infra,localstack,tests}/**/*.cloud.ts"],
    globalSetup: "infra/emulators/vitest-setup.ts",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Its default of one second is too short for a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongestFirst },
  },
});
