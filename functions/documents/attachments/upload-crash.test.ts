import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { getMedia, PNG, uploadFile } from "#lib/testing/test-attachments.ts";
import { testClock, testDeps } from "#lib/testing/test-deps.ts";
import { testGateway } from "#lib/testing/test-gateway.ts";
import { readLog } from "#lib/testing/test-workflows.ts";

const HOUR_MS = 60 * 60_000;
const FILE = Buffer.concat([PNG, Buffer.alloc(500_000, 7)]);

test("a crash at any commit of an upload leaves the whole attachment or nothing", async () => {
  const root = await mkdtemp(join(tmpdir(), "weft-attachment-"));
  const prepared = join(root, "prepared");
  try {
    const before = await testDeps({ folder: prepared });
    const gateway = await testGateway(before);
    const id = (await gateway.request("POST", "/documents/", { body: {} })).body.id;
    await gateway.close();
    await before.close();
    for (let commit = 1; ; commit += 1) {
      const folder = join(root, String(commit));
      await cp(prepared, folder, { recursive: true });
      const clock = testClock();
      let died = false;
      const onCrash = (): void => {
        died = true;
      };
      const hostile = { seed: commit, crashAtCommit: commit, onCrash };
      const dying = await testDeps({ folder, clock, hostile });
      const broken = await testGateway(dying);
      const { status } = await uploadFile(broken, id, "photo.png", FILE);
      await broken.close();
      await dying.close();

      const after = await testDeps({ folder, clock });
      const again = await testGateway(after);
      try {
        const list = async () => (await again.request("GET", `/documents/${id}/attachments/`)).body.results;
        const [found] = await list();
        if (status === 201) expect(found, `died at ${commit}`).toBeDefined();
        clock.advance(HOUR_MS);
        await after.tick();
        const keys = (await list()).map(({ key }: { key: string }) => `media/${key}`);
        expect(await after.deps.blobs.list("media/"), `died at ${commit}`).toEqual(keys);
        const { total } = await readLog(after.deps, { topic: "documents.attachment.uploaded" });
        expect(total).toBe(keys.length);
        if (found === undefined) continue;
        const media = await getMedia(again, found.key);
        expect(Buffer.from(await media.arrayBuffer()).equals(FILE)).toBe(true);
      } finally {
        await again.close();
        await after.close();
      }
      if (!died) break;
    }
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
});
