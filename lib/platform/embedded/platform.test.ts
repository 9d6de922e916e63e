import { CONTRACT_RESOURCES } from "../contract/resources.ts";
import { contractSuite } from "../contract/suite.ts";
import { openForTest, temporaryFolder } from "./test-platform.ts";

contractSuite("the embedded platform", async () => {
  const folder = await temporaryFolder();
  const { ports, close } = await openForTest(folder.path, CONTRACT_RESOURCES);
  return {
    ports,
    close: async () => {
      await close();
      await folder.remove();
    },
  };
});
