// The program of `npm start`. Plain JavaScript: a start from the bundle does not load the type stripper.
import { openServer } from "./bundle/open.js";

const { runServer } = await openServer();
await runServer(process.env);
