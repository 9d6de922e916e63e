/** Values of attributes are in double quotes in HTML that was serialized. */
const IMAGE = /<img(?: [^ "=>]+(?:="[^"]*")?)*>/g;
const TEXT_BLOCK = /<(p|h[1-6])\b[^>]*>.*?<\/\1>/gs;
const TABLE = /<table\b.*?<\/table>/gs;
const ONE_IMAGE = /^<p\b[^>]*>\s*(?:<[^>]*>\s*)*$/;

/**
 * Moves images out of paragraphs, headings and tables, behind them: in the editor, images are blocks, and its parser
 * drops those within texts. `html` is well-formed.
 */
export function hoistImages(html: string): string {
  if (!html.includes("<img")) return html;
  return html.replaceAll(TEXT_BLOCK, hoist).replaceAll(TABLE, hoist);
}

function hoist(block: string): string {
  const images = block.match(IMAGE) ?? [];
  if (images.length === 0) return block;
  const rest = block.replaceAll(IMAGE, "");
  if (images.length === 1 && ONE_IMAGE.test(rest)) return block;
  return rest + images.join("");
}
