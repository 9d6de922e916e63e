import type { Deps } from "./deps.ts";
import { documentAnswers } from "./deps-asked.ts";
import type { AnswerScript, Snapshots } from "./workflows/steps/context.ts";

/** What scripts may ask of a process that executes steps and has the tables and workspaces too. */
export interface ScriptDeps {
  readonly answerScript: AnswerScript;
  readonly snapshots: Snapshots;
}

/** Lambda's functions carry none of this: their executors have no tables. */
export function withScripts(deps: Deps): Deps & ScriptDeps {
  return {
    ...deps,
    answerScript: async (runId, query) => {
      const { answerScript } = await import("./workflows/script-api/answer-script.ts");
      return answerScript({ ...deps, answerDocuments: documentAnswers(deps) }, runId, query);
    },
    snapshots: {
      export: async (workspace) =>
        (await import("./workflows/snapshots/export.ts")).exportSnapshot(deps, workspace),
      import: async (archive, { workspace, cause }) => {
        const { importSnapshot } = await import("./workflows/snapshots/import.ts");
        const how = { workspace: undefined, force: true, filesOnly: false, spare: workspace, cause };
        return (await importSnapshot(deps, { archive, ...how })).workspace;
      },
    },
  };
}
