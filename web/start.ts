import "./base.css";
import { read, requestEarly } from "./api/early-requests.ts";
import { preferredLanguage } from "./i18n/language.ts";
import { readTexts } from "./i18n/read-texts.ts";
import { routeAt } from "./shell/routes.ts";

/*
 * The first script is small: it requests the page's code, texts and data at once, while the shell is still loading.
 * What fails here is requested again by what needs it, which shows the error.
 */
const ignore = (): void => undefined;
const at = routeAt(location.pathname);
const { parameter = "", route } = at ?? {};
requestEarly([
  read("/api/v1.0/users/me"),
  ...(route?.requests({ parameter, search: location.search }) ?? []),
]);
void import("./main.tsx").then(({ showApp }) => showApp());
route?.load().catch(ignore);
const language = preferredLanguage();
for (const group of ["shell", ...(route?.texts ?? [])] as const) readTexts(language, group).catch(ignore);
