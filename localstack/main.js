// What `npm start` runs. Plain JavaScript: the type stripper is only loaded where there is no bundle of the sources.
import { openServer } from "./bundle/open.js";

const { runServer } = await openServer();
await runServer(process.env);
