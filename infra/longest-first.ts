import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Returns a sequencer that starts these files first, in this order: a long file that starts last keeps one worker
 * busy while the others have nothing to do.
 */
export function longestFirst(names: readonly string[]): typeof BaseSequencer {
  const rank = ({ moduleId }: TestSpecification): number => {
    const found = names.findIndex((name) => moduleId.endsWith(`/${name}`));
    return found === -1 ? names.length : found;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      return sorted.toSorted((one, other) => rank(one) - rank(other));
    }
  };
}
