/** Maximum length of topics and patterns, in UTF-16 units. */
export const TOPIC_CHARACTERS = 256;

/** Topics with two spellings: one in triggers and one in the log. Seed: workflow 6. */
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

/** The canonical spelling of an event's topic: `asset.discovered` for `assets.new`; most topics are unchanged. */
export function canonicalTopic(topic: string): string {
  return CANONICAL.get(topic) ?? topic;
}

/** All spellings of an event's topic, its own first. */
export function topicSpellings(topic: string): readonly string[] {
  return SPELLINGS.get(topic) ?? [topic];
}

/**
 * Compiles a trigger's topic pattern: an exact topic, or a glob in which `*` matches any sequence of characters,
 * including dots, and `?` exactly one. Case-sensitive. Patterns and topics that are too long never match.
 */
export function compileTopic(pattern: string): (topic: string) => boolean {
  if (pattern.length > TOPIC_CHARACTERS) return () => false;
  if (pattern === "*") return (topic) => topic.length <= TOPIC_CHARACTERS;
  if (!/[*?]/.test(pattern)) return (topic) => topic === pattern;
  const glob = [...pattern];
  return (topic) => topic.length <= TOPIC_CHARACTERS && matchesGlob(glob, [...topic]);
}

/** Like `compileTopic`, but matches any spelling of the event's topic. */
export function compileTopicAnySpelling(pattern: string): (topic: string) => boolean {
  const matches = compileTopic(pattern);
  return (topic) => topicSpellings(topic).some(matches);
}

/**
 * Greedy matching with two pointers: only the last star is retried, so the number of steps is at most pattern length
 * times topic length. `count` is called for every step.
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
