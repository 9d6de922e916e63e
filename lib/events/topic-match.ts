/** Longest topic and longest pattern, in UTF-16 units. */
export const TOPIC_CHARACTERS = 256;

/** Topics that have two spellings: what triggers name, and what the log names. Seed: workflow 6. */
const CANONICAL: ReadonlyMap<string, string> = new Map([
  ["assets.new", "asset.discovered"],
  ["assets.updated", "asset.updated"],
]);

const SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map(
  [...CANONICAL].flatMap(([trigger, log]) => [
    [trigger, [trigger, log]],
    [log, [log, trigger]],
  ]),
);

/** The spelling under which an event is known: `asset.discovered` for `assets.new`; most topics as they are. */
export function canonicalTopic(topic: string): string {
  return CANONICAL.get(topic) ?? topic;
}

/** Every spelling of an event's topic, its own first. */
export function topicSpellings(topic: string): readonly string[] {
  return SPELLINGS.get(topic) ?? [topic];
}

/**
 * Matches topics against a trigger's pattern: exact, or a glob where `*` is any run of characters (dots
 * too) and `?` is exactly one. Case counts. A pattern that is too long matches nothing, like a topic that is.
 */
export function compileTopic(pattern: string): (topic: string) => boolean {
  if (pattern.length > TOPIC_CHARACTERS) return () => false;
  if (pattern === "*") return (topic) => topic.length <= TOPIC_CHARACTERS;
  if (!/[*?]/.test(pattern)) return (topic) => topic === pattern;
  const glob = [...pattern];
  return (topic) => topic.length <= TOPIC_CHARACTERS && matchesGlob(glob, [...topic]);
}

/** Like `compileTopic`, and true when any spelling of the event's topic matches. */
export function compileTopicAnySpelling(pattern: string): (topic: string) => boolean {
  const matches = compileTopic(pattern);
  return (topic) => topicSpellings(topic).some(matches);
}

/**
 * Greedy with two pointers: only the last star is ever tried again, so the work is at most pattern times
 * topic, whatever the stars. `count` is told of every step.
 */
export function matchesGlob(
  glob: readonly string[],
  topic: readonly string[],
  count: () => void = () => {},
): boolean {
  let at = 0;
  let star = -1;
  let starTopic = 0;
  let position = 0;
  while (position < topic.length) {
    count();
    const wanted = glob[at];
    if (wanted === "*") {
      star = at;
      starTopic = position;
      at += 1;
    } else if (wanted !== undefined && (wanted === "?" || wanted === topic[position])) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      starTopic += 1;
      position = starTopic;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
}
