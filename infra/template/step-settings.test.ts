import { describe, expect, it } from "vitest";
import { readConfig, settings } from "../../lib/settings/config.ts";
import { documentSettings } from "../../lib/settings/document-settings.ts";
import { NOT_FOR_FUNCTIONS, parameterOf, settingParameters } from "./step-settings.ts";

interface Parameter {
  readonly Default: string;
  readonly AllowedPattern?: string;
  readonly AllowedValues?: readonly string[];
}
const parameters = settingParameters() as Record<string, Parameter>;
const names = [...Object.keys(settings.shape), ...Object.keys(documentSettings)];

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
