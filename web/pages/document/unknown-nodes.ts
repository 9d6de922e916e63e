import * as Y from "yjs";

/** Nodes of the editor around blocks, and within tables and texts. */
const STRUCTURE = [
  "blockGroup",
  "blockContainer",
  "tableRow",
  "tableCell",
  "tableHeader",
  "tableParagraph",
  "hardBreak",
];
/** The types that the schema of an editor has. */
interface Schema {
  readonly blockSchema: object;
  readonly inlineContentSchema: object;
}

/**
 * The names of nodes that the schema of the editor does not have, such as columns of other programs. The editor would
 * delete them, for everybody.
 */
export function unknownNodes(
  fragment: Y.XmlFragment,
  { blockSchema, inlineContentSchema }: Schema,
): readonly string[] {
  const known = new Set([...STRUCTURE, ...Object.keys(blockSchema), ...Object.keys(inlineContentSchema)]);
  const names = new Set<string>();
  const rest: Y.XmlFragment[] = [fragment];
  for (let parent = rest.pop(); parent !== undefined; parent = rest.pop())
    for (const child of parent.toArray()) {
      if (!(child instanceof Y.XmlElement)) continue;
      if (!known.has(child.nodeName)) names.add(child.nodeName);
      rest.push(child);
    }
  return [...names];
}
