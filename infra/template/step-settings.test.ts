import { describe, expect, it } from "vitest";
import { readConfig } from "../../lib/settings/config.ts";
import { STORED_SETTINGS } from "../../lib/settings/function-settings.ts";
import { settings } from "../../lib/settings/settings.ts";
import { parameterOf, settingParameters } from "./step-settings.ts";

interface Parameter {
  readonly Default: string;
  readonly AllowedPattern?: string;
  readonly AllowedValues?: readonly string[];
}
const parameters = settingParameters() as Record<string, Parameter>;
const names = Object.keys(settings);

/** Settings without a parameter: of servers and workers only, or functions get them in other ways. */
const NOT_FOR_FUNCTIONS: ReadonlySet<string> = new Set([
  // clamd has no authentication, and functions are in no private network.
  "CLAMAV_ADDRESS",
  // API Gateway serves its own domain names only.
  "DJANGO_ALLOWED_HOSTS",
  "PORT",
  "HOST",
  "WEFT_DATA_DIR",
  // It records to the data folder.
  "RECORD_HIGH_WATER_MARKS",
  "WEFT_ACCESS_TOKEN",
  "WEFT_PLATFORM",
  "WEFT_STACK",
  "WEFT_WORKER",
  // In Lambda, each queue has a concurrency limit, and schedules are rules of the template.
  "STEPS_CONCURRENCY_MAX",
  "SCHEDULER_ENABLED",
  // Files, containers and hosts are for workers.
  "FUNCTION_FOLDERS",
  "DOCKER_HOST",
  "REMOTE_VOLUME_ROOTS",
  "REMOTE_HOST_NETWORK",
  "REMOTE_KEYS_DIR",
  "SSH_KNOWN_HOSTS",
  "WATCH_ROOTS",
  // Functions read secrets in the parameter store.
  ...STORED_SETTINGS.values,
  ...STORED_SETTINGS.files,
  "LLM_API_KEY",
  "DJANGO_EMAIL_HOST_PASSWORD",
]);

describe("settings of functions", () => {
  it("have a parameter of the template, or are listed as not applicable", () => {
    const unassigned = names.filter(
      (name) => (parameterOf(name) === undefined) === !NOT_FOR_FUNCTIONS.has(name),
    );
    expect(unassigned).toEqual([]);
    expect([...NOT_FOR_FUNCTIONS].filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(names.filter((name) => parameterOf(name) !== undefined))(
    "%s: the parameter's default is valid",
    (name) => {
      const { Default, AllowedPattern = "", AllowedValues } = parameters[parameterOf(name) ?? ""]!;
      expect(() => readConfig({ [name]: Default })).not.toThrow();
      expect(Default).toMatch(new RegExp(AllowedPattern));
      if (AllowedValues !== undefined) expect(AllowedValues).toContain(Default);
    },
  );

  it.each([
    ["RUNS_CONCURRENCY_MAX", ["1", "10000"], ["0", "10001", "-1", "1e3", ""]],
    ["RUNS_PER_ROOT_CAUSE_MAX", ["1", "999999999"], ["0", "1000000000", "x", ""]],
    ["TRIGGER_FIRES_PER_MINUTE", ["1", "999999999"], ["0", "1000000000", "x", ""]],
  ])("%s accepts what the setting accepts, and rejects at deployment what it rejects", (name, good, bad) => {
    const pattern = new RegExp(parameters[parameterOf(name) ?? ""]!.AllowedPattern ?? "");
    for (const text of good) {
      expect(text).toMatch(pattern);
      expect(() => readConfig({ [name]: text })).not.toThrow();
    }
    for (const text of bad) expect(text).not.toMatch(pattern);
    for (const text of bad.filter((one) => one !== ""))
      expect(() => readConfig({ [name]: text })).toThrow(name);
  });
});
