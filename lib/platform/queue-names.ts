/** Marks a queue that has a dead-letter queue, which need not be named. */
const WITH_DEAD_LETTERS = ":dlq";

const deadLettersOf = (name: string): string => name.replace(/^(.*?)(\.fifo)?$/, "$1-dead-letters$2");

/** Queue names as an environment variable, short because Lambda limits all variables together to 4 KB. */
export function formatQueueNames(names: readonly string[]): string {
  const all = new Set(names);
  const implied = new Set(names.map(deadLettersOf));
  return names
    .filter((name) => !implied.has(name))
    .map((name) => (all.has(deadLettersOf(name)) ? `${name}${WITH_DEAD_LETTERS}` : name))
    .join(" ");
}

/** The names in a variable that `formatQueueNames` made. */
export function parseQueueNames(text: string): string[] {
  return text
    .split(" ")
    .filter((word) => word !== "")
    .flatMap((word) => {
      if (!word.endsWith(WITH_DEAD_LETTERS)) return [word];
      const name = word.slice(0, -WITH_DEAD_LETTERS.length);
      return [name, deadLettersOf(name)];
    });
}
