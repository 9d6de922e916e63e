import type { Clock } from "../clock.ts";
import type { Environment } from "./client-options.ts";
import { parameterStore, readParameter } from "./parameters.ts";
import { type StoredSecrets, storedSecrets } from "./secrets.ts";
import { type StorableSettings, withStoredSettings } from "./stored-settings.ts";

/** The parameter store, for an installation that keeps its token, settings or secrets there. */
export interface ParameterStore {
  /** Returns the decrypted value of a parameter. Throws Error if the parameter does not exist. */
  readParameter(name: string): Promise<string>;
  /** Adds the settings that `WEFT_DOCUMENT_SECRETS` lists to an environment. */
  addSettings(environment: Environment, storable: StorableSettings): Promise<Environment>;
  /** Opens the secrets below a path; without a path there are no secrets. */
  openSecrets(path: string | undefined, clock: Pick<Clock, "now">): StoredSecrets;
}

export function openParameterStore(environment: Environment): ParameterStore {
  const ssm = parameterStore(environment);
  return {
    readParameter: (name) => readParameter(ssm, name),
    addSettings: (given, storable) => withStoredSettings(ssm, given, storable),
    openSecrets: (path, clock) => storedSecrets({ ssm, path, clock }),
  };
}
