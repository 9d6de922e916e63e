import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalTopic,
  compileTopic,
  compileTopicAnySpelling,
  matchesGlob,
  TOPIC_CHARACTERS,
  topicSpellings,
} from "./topic-match.ts";

/** The textbook definition, exponential in the number of stars. */
function naive(glob: string, topic: string): boolean {
  if (glob === "") return topic === "";
  const rest = glob.slice(1);
  if (glob[0] === "*") return naive(rest, topic) || (topic !== "" && naive(glob, topic.slice(1)));
  return topic !== "" && (glob[0] === "?" || glob[0] === topic[0]) && naive(rest, topic.slice(1));
}

describe("compileTopic", () => {
  it.each([
    ["custom.a", "custom.a", true],
    ["custom.a", "custom.ab", false],
    ["custom.a", "Custom.a", false],
    ["custom.*", "custom.a.b", true],
    ["custom.*", "custom.", true],
    ["custom.*", "custom", false],
    ["*", "anything.at.all", true],
    ["*.new", "assets.new", true],
    ["step.?ailed", "step.failed", true],
    ["step.?", "step.", false],
    ["a?c", "a😀c", true],
    ["a.b", "axb", false],
    ["a[bc]", "ab", false],
    ["a[bc]", "a[bc]", true],
    ["a**b", "a.b", true],
    ["", "", true],
    ["", "a", false],
  ])("%j on %j gives %j", (pattern, topic, expected) => {
    expect(compileTopic(pattern)(topic)).toBe(expected);
  });

  it("agrees with the textbook definition of a glob", () => {
    const glob = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), maxLength: 7 });
    const topic = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 });
    // biome-ignore lint/nursery/noFloatingPromises: a synchronous property is checked at once
    fc.assert(
      fc.property(glob, topic, (pattern, text) => {
        expect(compileTopic(pattern)(text)).toBe(naive(pattern, text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("takes at most pattern times topic steps for a pattern that makes backtracking explode", () => {
    const glob = [...`${"*a".repeat(100)}*b`];
    const topic = [..."a".repeat(TOPIC_CHARACTERS)];
    let steps = 0;

    const matched = matchesGlob(glob, topic, () => {
      steps += 1;
    });

    expect(matched).toBe(false);
    expect(steps).toBeLessThanOrEqual(glob.length * topic.length);
  });

  it("matches nothing if the topic or the pattern is longer than 256 characters", () => {
    const long = "a".repeat(TOPIC_CHARACTERS + 1);

    expect(compileTopic("*")(long)).toBe(false);
    expect(compileTopic("a*")(long)).toBe(false);
    expect(compileTopic(long)(long)).toBe(false);
    expect(compileTopic("*")(long.slice(1))).toBe(true);
  });
});

describe("spellings of a topic", () => {
  it("match triggers with either spelling", () => {
    expect(compileTopicAnySpelling("assets.new")("asset.discovered")).toBe(true);
    expect(compileTopicAnySpelling("asset.discovered")("assets.new")).toBe(true);
    expect(compileTopicAnySpelling("assets.*")("asset.updated")).toBe(true);
    expect(compileTopicAnySpelling("assets.updated")("asset.discovered")).toBe(false);
    expect(compileTopicAnySpelling("custom.x")("custom.x")).toBe(true);
  });

  it("list an event's own spelling first", () => {
    expect(topicSpellings("assets.new")).toEqual(["assets.new", "asset.discovered"]);
    expect(topicSpellings("asset.updated")).toEqual(["asset.updated", "assets.updated"]);
    expect(topicSpellings("run.completed")).toEqual(["run.completed"]);
  });

  it("include one canonical name", () => {
    expect(canonicalTopic("assets.new")).toBe("asset.discovered");
    expect(canonicalTopic("assets.updated")).toBe("asset.updated");
    expect(canonicalTopic("asset.discovered")).toBe("asset.discovered");
    expect(canonicalTopic("constructor")).toBe("constructor");
  });
});
