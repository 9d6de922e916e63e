import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as Y from "yjs";
import { EDITOR_PACKAGES } from "../../lib/conversion/editor-packages.ts";
import { converterProcess } from "../../lib/platform/embedded/converter/client.ts";
import { silentLog } from "../../lib/platform/embedded/test-platform.ts";
import { copyOfCheckout, startCopy } from "./test-checkout.ts";

const INSTALLED = fileURLToPath(new URL("../../node_modules", import.meta.url));
const NOTICE =
  "License of this build: GPL-3.0 OR PROPRIETARY (PUBLISH_AS_MIT=false adds @blocknote/xl-docx-exporter";
const SENTENCE =
  /PUBLISH_AS_MIT=false needs @blocknote\/xl-docx-exporter [^\n]*, or unset PUBLISH_AS_MIT\.\n/;

/** Stand-ins of the packages, which write the types of the blocks. */
const FIXTURES: Readonly<Record<string, string>> = {
  "@blocknote/xl-multi-column": "export const withMultiColumn = (schema) => schema;",
  "@blocknote/xl-docx-exporter": writer("DOCXExporter", "toBlob", "docxDefaultSchemaMappings"),
  "@blocknote/xl-odt-exporter": writer("ODTExporter", "toODTDocument", "odtDefaultSchemaMappings"),
  "@blocknote/xl-pdf-exporter": writer("PDFExporter", "toReactPDFDocument", "pdfDefaultSchemaMappings"),
  "@react-pdf/renderer":
    "export const renderToBuffer = async (made) => Buffer.from(await made.arrayBuffer());",
};

function writer(exporter: string, method: string, mappings: string): string {
  return `export const ${mappings} = {};
export class ${exporter} {
  constructor(schema, mappings, options) { this.options = options; }
  async ${method}(blocks) {
    const images = blocks.filter(({ type }) => type === "image");
    for (const { props } of images) await this.options.resolveFileUrl(props.url);
    const fetched = await this.options.resolveFileUrl("https://e.example/").catch(({ message }) => message);
    const links = JSON.stringify(blocks).match(/"(?:href|url)":"[^"]*"/g);
    return new Blob([["${exporter}", ...blocks.map(({ type }) => type), ...links ?? [], fetched].join(" ")]);
  }
}`;
}

let copy: ReturnType<typeof copyOfCheckout>;
beforeAll(() => {
  copy = copyOfCheckout();
  // The folder itself, not a link to it: the packages are installed only here.
  for (const scope of ["@blocknote", "@react-pdf"]) {
    rmSync(join(copy.root, "node_modules", scope), { force: true });
    mkdirSync(join(copy.root, "node_modules", scope));
  }
  for (const name of readdirSync(join(INSTALLED, "@blocknote")).filter((one) => !one.startsWith("xl-")))
    symlinkSync(join(INSTALLED, "@blocknote", name), join(copy.root, "node_modules/@blocknote", name));
});
afterAll(() => copy.remove());

function install(): void {
  const core = readFileSync(join(INSTALLED, "@blocknote/core/package.json"), "utf8");
  const { version } = JSON.parse(core) as { version: string };
  for (const [name, code] of Object.entries(FIXTURES)) {
    const folder = join(copy.root, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    const license = "GPL-3.0 OR PROPRIETARY";
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name, version, license, type: "module", exports: "./index.js" }),
    );
    writeFileSync(join(folder, "index.js"), code);
  }
}

/** A Yjs state with an image of another site, a link that is a script, and a good one. */
function page(): Uint8Array {
  const doc = new Y.Doc();
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment("document-store").insert(0, [group]);
  const add = (node: Y.XmlElement): void => {
    const container = new Y.XmlElement("blockContainer");
    container.insert(0, [node]);
    group.insert(group.length, [container]);
  };
  const image = new Y.XmlElement("image");
  image.setAttribute("url", "https://e.example/a.png");
  add(image);
  for (const href of ["javascript:alert(1)", "https://e.example/c"]) {
    const paragraph = new Y.XmlElement("paragraph");
    const text = new Y.XmlText();
    paragraph.insert(0, [text]);
    add(paragraph);
    text.insert(0, "link", { link: { href } });
  }
  return Y.encodeStateAsUpdate(doc);
}

function run(program: string, publishAsMit: string, ...argv: string[]) {
  const env = {
    ...process.env,
    PUBLISH_AS_MIT: publishAsMit,
    PORT: "0",
    WEFT_DATA_DIR: mkdtempSync(join(copy.root, "data-")),
  };
  return spawnSync(process.execPath, [join(copy.root, program), ...argv], {
    cwd: copy.root,
    env,
    encoding: "utf8",
  });
}
const converterOf = (stack: string) =>
  parse(stack).Resources.ConverterFunction.Metadata.BuildProperties.External as string[];
const stackText = (): string => readFileSync(join(copy.root, "infra/stacks/documents.yaml"), "utf8");

describe("PUBLISH_AS_MIT=false without the editor's packages", () => {
  test("stops the build of the server, and its start, with one sentence", () => {
    const built = run("localstack/bundle/prepare.js", "false");
    expect(built.stderr).toMatch(SENTENCE);
    const started = run("localstack/main.js", "false");
    expect(started.status).toBe(1);
    expect(started.stdout).toBe("");
    expect(started.stderr).toMatch(new RegExp(`^weft: ${SENTENCE.source}$`));
  }, 60_000);

  test("stops the build of the templates", () => {
    const written = run("infra/write.ts", "false");
    expect(written.status).toBe(1);
    expect(written.stderr).toMatch(new RegExp(`^${SENTENCE.source}$`));
  }, 60_000);
});

describe("PUBLISH_AS_MIT=false with the editor's packages", () => {
  beforeAll(install);

  test("prints the license when the server is built and started", async () => {
    const server = await startCopy(copy.root, { PUBLISH_AS_MIT: "false" });
    await server.stop();
    expect(server.log()).toContain(`weft: ${NOTICE}`);
    expect(server.log()).toContain(`"message":"${NOTICE}`);
  }, 120_000);

  test("prints the license with templates whose converter contains the packages", () => {
    expect(converterOf(stackText())).toEqual(expect.arrayContaining([...EDITOR_PACKAGES]));
    const written = run("infra/write.ts", "false");
    expect(written.stdout).toContain(NOTICE);
    expect(converterOf(stackText())).not.toContain(EDITOR_PACKAGES[0]);
    expect(parse(stackText()).Globals.Function.Environment.Variables.PUBLISH_AS_MIT).toBe("false");
    const again = run("infra/write.ts", "true");
    expect(again.stdout).not.toContain("License of this build");
    expect(converterOf(stackText())).toContain(EDITOR_PACKAGES[0]);
  }, 120_000);

  test.each(["docx", "odt", "pdf"] as const)(
    "writes %s as the editor does, and requests nothing",
    async (format) => {
      const program = pathToFileURL(join(copy.root, "lib/platform/embedded/converter/main.ts"));
      const converter = converterProcess({ log: silentLog, program, withEditorWriters: true });
      try {
        const written = await converter.convert({ from: "yjs", bytes: page(), to: `${format}-editor` });
        expect(written.ok && Buffer.from(written.value).toString()).toBe(
          `${format.toUpperCase()}Exporter file paragraph paragraph "url":"https://e.example/a.png" "href":"" ` +
            '"href":"https://e.example/c" files of other sites are not loaded',
        );
      } finally {
        await converter.close();
      }
    },
    60_000,
  );
});

test("with PUBLISH_AS_MIT=true the packages are not used, even if they are installed", async () => {
  install();
  const program = pathToFileURL(join(copy.root, "lib/platform/embedded/converter/main.ts"));
  const converter = converterProcess({ log: silentLog, program });
  try {
    const written = await converter.convert({ from: "plain", bytes: Buffer.from("a"), to: "docx-editor" });
    expect(written).toEqual({ ok: false, reason: "refused" });
  } finally {
    await converter.close();
  }
  const server = await startCopy(copy.root, { PUBLISH_AS_MIT: "true" });
  await server.stop();
  expect(server.log()).not.toContain("License of this build");
}, 120_000);
