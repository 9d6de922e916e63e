/** Text without accents and case, so that `equipe` finds `Équipe`. */
export const folded = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{Diacritic}/gu, "")
    .toLowerCase();

/** Whether a label contains what was typed, or a word of the label or of its other names begins with it. */
export function matches(query: string, label: string, aliases = ""): boolean {
  const typed = folded(query).trim();
  if (typed === "" || folded(label).includes(typed)) return true;
  return folded(aliases)
    .split(", ")
    .some((alias) => alias.startsWith(typed));
}
