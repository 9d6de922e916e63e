import { writeHtml } from "./html.ts";
import { writeMarkdown } from "./markdown.ts";
import { toNodes } from "./nodes.ts";
import { portableBlocks } from "./portable-blocks.ts";
import { writePortableMarkdown } from "./portable-markdown.ts";
import type { Rendered, Rendering } from "./rendering.ts";

/** Writes a document as a file. The libraries of a format are loaded with its first document. */
export async function render(rendering: Rendering): Promise<Rendered> {
  if (rendering.to === "portable")
    return written(Buffer.from(writePortableMarkdown(portableBlocks(rendering))));
  const nodes = toNodes(rendering);
  switch (rendering.to) {
    case "html":
      return written(Buffer.from(writeHtml(rendering, nodes)));
    case "markdown":
      return written(Buffer.from(writeMarkdown(rendering, nodes)));
    case "docx": {
      const { writeDocx } = await import("./docx.ts");
      return written(await writeDocx(rendering, nodes));
    }
    case "odt": {
      const { writeOdt } = await import("./odt.ts");
      return written(await writeOdt(rendering, nodes));
    }
    case "pdf": {
      const { writePdf } = await import("./pdf.ts");
      return writePdf(rendering, nodes);
    }
    default:
      return rendering.to satisfies never;
  }
}

const written = (bytes: Uint8Array): Rendered => ({ bytes, issues: [] });
