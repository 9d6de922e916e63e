import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ENTRIES_MAX, RATIO_FREE_BYTES, UNPACKED_MAX_BYTES } from "./archive-limits.ts";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

const at = (path: string): string => join(context.cwd, path);
const put = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const text = (path: string): string => readFileSync(at(path), "utf8");

interface Member {
  readonly name: string;
  readonly content: Buffer;
  readonly mode?: number;
  /** The size and offset that the archive declares. */
  readonly claims?: number;
}

/** Compressed once: every call of zlib allocates its whole window. */
const EMPTY = deflateRawSync(Buffer.alloc(0));

/** A zip file, byte by byte: no library would write these archives. */
function zipOf(members: readonly Member[]): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100644, claims = content.length } of members) {
    const path = Buffer.from(name);
    const packed = content.length === 0 ? EMPTY : deflateRawSync(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(0x0800, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(claims, 18);
    fields.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), fields, path, packed]);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02", "latin1");
    entry.writeUInt16LE((3 << 8) | 20, 4);
    fields.copy(entry, 6, 0, 24);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    locals.push(local);
    entries.push(entry, path);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const hello = Buffer.from("hello");

describe("archives round-trip", () => {
  beforeEach(() => {
    put("tree/a.txt", "one");
    put("tree/deep/er/b.txt", "two");
    symlinkSync("/etc/passwd", at("tree/link"));
  });

  test.each([
    ["zip_dir", "unzip_dir", "t.zip"],
    ["zip_unix", "unzip_unix", "t.zip"],
    ["zip_dir", "extract_to", "t.zip"],
  ] as const)("by %s and %s", async (pack, unpack, file) => {
    expect(await context.prepared(pack, "tree", file)).toBe(true);
    put("back/old", "old");
    expect(await context.prepared(unpack, file, "back")).toBe(true);
    expect([text("back/a.txt"), text("back/deep/er/b.txt")]).toEqual(["one", "two"]);
    expect(existsSync(at("back/link"))).toBe(false);
    expect(existsSync(at("back/old"))).toBe(unpack !== "extract_to");
  });

  test("by tar, without links", async () => {
    expect(context.call("rm_rf", "tree/link")).toBe(true);
    expect(context.call("tar_unix", "tree", "t.tgz")).toBe(true);
    expect(context.call("untar_unix", "t.tgz", "back")).toBe(true);
    expect(await context.prepared("extract_to", "t.tgz", "other")).toBe(true);
    for (const folder of ["back", "other"])
      expect([text(`${folder}/a.txt`), text(`${folder}/deep/er/b.txt`)]).toEqual(["one", "two"]);
  });

  test("a single file, beside the archive", async () => {
    expect(await context.prepared("zip_dir", "tree/a.txt", "one/a.zip")).toBe(true);
    expect(await context.prepared("unzip_unix", "one/a.zip")).toBe(true);
    expect(text("one/a.txt")).toBe("one");
  });
});

describe("an invalid or missing archive", () => {
  test.each(["none.zip", "text.zip", "text.tar.gz", "text.txt"])("returns false for %s", async (file) => {
    put("text.zip", "no archive");
    put("text.tar.gz", "no archive");
    put("text.txt", "no archive");
    put("kept/x", "x");
    expect(await context.prepared("extract_to", file, "out")).toBe(false);
    expect(await context.prepared("unzip_dir", file, "out")).toBe(false);
    expect(context.call("untar_unix", file, "out")).toBe(false);
    expect(text("kept/x")).toBe("x");
  });
});

describe("rejects a zip file", () => {
  test.each(["../evil", "a/../../evil", "/etc/evil", "C:/evil", "..\\evil", "a/.."])(
    "with the member %s",
    async (name) => {
      writeFileSync(at("evil.zip"), zipOf([{ name, content: hello }]));
      expect(await context.prepared("unzip_dir", "evil.zip", "in/out")).toBe(false);
      expect(readdirSync(context.cwd).sort()).toEqual(
        existsSync(at("in")) ? ["evil.zip", "in"] : ["evil.zip"],
      );
      expect(existsSync(at("in/evil"))).toBe(false);
    },
  );

  test("with a link in it", async () => {
    writeFileSync(
      at("evil.zip"),
      zipOf([
        { name: "link", content: Buffer.from("/etc"), mode: 0o120777 },
        { name: "link/evil", content: hello },
      ]),
    );
    expect(await context.prepared("unzip_dir", "evil.zip", "out")).toBe(false);
    expect(existsSync(at("out/link"))).toBe(false);
  });

  test("that would write through an existing link", async () => {
    mkdirSync(at("out"));
    mkdirSync(`${context.cwd}-other`);
    symlinkSync(`${context.cwd}-other`, at("out/sub"));
    writeFileSync(at("evil.zip"), zipOf([{ name: "sub/evil", content: hello }]));
    expect(await context.prepared("unzip_dir", "evil.zip", "out")).toBe(false);
    expect(readdirSync(`${context.cwd}-other`)).toEqual([]);
    execFileSync("rm", ["-r", `${context.cwd}-other`]);
  });

  test("whose member has an excessive compression ratio", async () => {
    writeFileSync(at("bomb.zip"), zipOf([{ name: "bomb", content: Buffer.alloc(RATIO_FREE_BYTES * 2) }]));
    expect(await context.prepared("unzip_dir", "bomb.zip", "out")).toBe(false);
    expect(context.logs.at(-1)).toContain("times its size");
  });

  test("whose member is larger than declared", async () => {
    writeFileSync(at("bomb.zip"), zipOf([{ name: "bomb", content: Buffer.alloc(1_000_000), claims: 10 }]));
    expect(await context.prepared("unzip_dir", "bomb.zip", "out")).toBe(false);
    expect(existsSync(at("out/bomb")) ? lstatSync(at("out/bomb")).size : 0).toBeLessThan(100_000);
  });

  test("with too many members", async () => {
    const members = Array.from({ length: ENTRIES_MAX + 1 }, (_, index) => ({
      name: `${index}`,
      content: Buffer.alloc(0),
    }));
    writeFileSync(at("many.zip"), zipOf(members));
    expect(await context.prepared("unzip_dir", "many.zip", "out")).toBe(false);
    expect(context.logs.at(-1)).toContain(`more than ${ENTRIES_MAX} members`);
    expect(existsSync(at("out/0"))).toBe(false);
  }, 60_000);
});

describe("rejects a tar file", () => {
  const tar = (...args: string[]): void => {
    execFileSync("tar", args, { cwd: context.cwd, stdio: "ignore" });
  };

  test("with paths that lead out of the folder", () => {
    put("evil", "evil");
    put("in/x", "x");
    tar("-cPf", "up.tar", "--transform", "s,^evil,../../evil2,", "evil");
    tar("-cPf", "root.tar", "--transform", "s,^evil,/tmp/weft-evil-member,", "evil");
    for (const file of ["up.tar", "root.tar"]) {
      expect(context.call("untar_unix", file, "in/out")).toBe(false);
      expect(context.logs.at(-1)).toContain("a member outside");
    }
    expect(existsSync("/tmp/weft-evil-member")).toBe(false);
  });

  test("with links, hard or soft", () => {
    put("a", "a");
    symlinkSync("/etc", at("soft"));
    execFileSync("ln", [at("a"), at("hard")]);
    tar("-cf", "soft.tar", "soft");
    tar("-cf", "hard.tar", "a", "hard");
    for (const file of ["soft.tar", "hard.tar"]) {
      expect(context.call("untar_unix", file, "out")).toBe(false);
      expect(context.logs.at(-1)).toContain("neither files nor folders");
    }
  });

  test("that would be too large", () => {
    execFileSync("truncate", ["-s", String(UNPACKED_MAX_BYTES + 1), at("sparse")]);
    tar("-cSzf", "bomb.tgz", "sparse");
    expect(context.call("untar_unix", "bomb.tgz", "out")).toBe(false);
    expect(context.logs.at(-1)).toContain("larger than");
    expect(existsSync(at("out/sparse"))).toBe(false);
  });
});
