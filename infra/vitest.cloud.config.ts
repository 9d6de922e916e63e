import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { testDefaults } from "./vitest-defaults.ts";

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
    ...testDefaults,
    include: ["{lib,infra,localstack,tests}/**/*.cloud.ts"],
    globalSetup: "infra/emulators/vitest-setup.ts",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongestFirst },
  },
});
