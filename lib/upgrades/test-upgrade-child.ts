import { contentApart } from "./content-apart.ts";
import { openCloudUpgradePlatform, openUpgradePlatform } from "./test-upgrade-platform.ts";
import { upgradeData } from "./upgrade.ts";

/** Migrates a data folder, or a stack where one is named, and dies at once when so many blobs have been stored. */
const [dataDir = "", killAt = "1", stack = ""] = process.argv.slice(2);
const { ports } = await (stack === "" ? openUpgradePlatform(dataDir) : openCloudUpgradePlatform(stack));
let stored = 0;
const blobs: typeof ports.blobs = {
  ...ports.blobs,
  put: async (key, data) => {
    await ports.blobs.put(key, data);
    stored += 1;
    if (stored === Number(killAt)) process.kill(process.pid, "SIGKILL");
  },
};
const alone = stack === "";
await upgradeData({ ...ports, blobs }, { release: "5.0.0", alone, migrations: [contentApart] });
