import { CONTRACT_RESOURCES } from "../contract/resources.ts";
import { contractSuite } from "../contract/suite.ts";
import { openForTest, temporaryFolder } from "./test-platform.ts";

contractSuite("the embedded platform", async () => {
  const folder = await temporaryFolder();
  const { ports, uploads, close } = await openForTest(folder.path, CONTRACT_RESOURCES);
  return {
    ports,
    sendUpload: async ({ url }, bytes) => {
      async function* chunks() {
        yield bytes.subarray(0, 100);
        yield bytes.subarray(100);
      }
      return (await uploads.find(url)?.receive(chunks())) === "stored";
    },
    close: async () => {
      await close();
      await folder.remove();
    },
  };
});
