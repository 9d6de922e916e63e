import { splitContent } from "./split-content.ts";
import { openCloudUpgradePlatform, openUpgradePlatform } from "./test-upgrade-platform.ts";
import { upgradeData } from "./upgrade.ts";

/** Migrates a data folder, or a stack if one is given, and exits abruptly after the given number of blobs. */
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
await upgradeData({ ...ports, blobs }, { release: "5.0.0", isExclusive: alone, migrations: [splitContent] });
