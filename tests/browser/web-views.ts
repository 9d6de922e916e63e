import type { Page } from "@playwright/test";
import type { WebExample } from "./web-example.ts";

/** Something to take a picture of: a page, and what is opened on it. */
export interface View {
  readonly name: string;
  readonly path: string;
  /** Whose browser shows it. `nobody` has no session, `newcomer` is the owner of a new installation. */
  readonly who: "owner" | "guest" | "nobody" | "newcomer";
  /** Opens what the picture is about. */
  readonly open?: (page: Page) => Promise<void>;
  /** Leaves the browser as it was, if what was opened outlasts a page. */
  readonly close?: (page: Page) => Promise<void>;
}

type Steps = NonNullable<View["open"]>;

/** Lists that are empty on a new installation, by their names. */
const EMPTY_LISTS = {
  documents: "/",
  shared: "/?list=shared",
  favorites: "/?list=favorites",
  trash: "/?list=trash",
  runs: "/runs",
  workflows: "/workflows",
  events: "/events?topic=custom.nothing",
  schedules: "/schedules",
  findings: "/findings",
  assets: "/findings?kind=assets",
  changes: "/findings?kind=changes",
  files: "/files",
  workspaces: "/files?view=workspaces",
  webhooks: "/webhooks",
  "dead-letters": "/dead-letters",
  functions: "/functions?q=nothing",
  notifications: "/notifications",
  tokens: "/settings/tokens",
};

const press =
  (...keys: string[]): Steps =>
  async (page) => {
    for (const key of keys) await page.keyboard.press(key);
  };
const click =
  (role: "button" | "menuitem", name: string): Steps =>
  (page) =>
    page.locator("body").getByRole(role, { name, exact: true }).last().click();
const waitFor =
  (role: "menu" | "dialog" | "listbox" | "toolbar"): Steps =>
  (page) =>
    page.getByRole(role).first().waitFor();
const all =
  (...steps: Steps[]): Steps =>
  async (page) => {
    for (const step of steps) await step(page);
  };

/** Puts the cursor below the text of a document. */
const writeBelow: Steps = async (page) => {
  const text = page.getByRole("textbox", { name: "Text of the document" });
  await text.hover();
  // The menus are loaded after the text.
  await page.getByRole("button", { name: "Menu of the block" }).waitFor({ state: "attached" });
  await text.click();
  await page.keyboard.press("Control+End");
};
/** Types into a new paragraph. */
const typeBelow = (typed: string): Steps =>
  all(writeBelow, press("Enter"), (page) => page.keyboard.type(typed, { delay: 20 }), waitFor("listbox"));
const removeTyped =
  (count: number): Steps =>
  async (page) => {
    await page.keyboard.press("Escape");
    for (let at = 0; at < count; at += 1) await page.keyboard.press("Backspace");
    await page.getByRole("status").getByText("Saved").waitFor();
  };
const selectWord: Steps = (page) =>
  page
    .getByRole("textbox", { name: "Text of the document" })
    .getByText("Monday")
    .first()
    .click({ clickCount: 2 });
const failReads: Steps = async (page) => {
  await page.route("**/automation/workflows*", (route) => route.fulfill({ status: 503, json: {} }));
  await page.reload();
  await page.getByRole("button", { name: "Try again" }).waitFor({ timeout: 30_000 });
};
const disconnect: Steps = (page) => page.context().setOffline(true);
const waitForNotice: Steps = (page) => page.getByText("This device is offline.").waitFor();
/** Opens another list: the page shows that it is offline after a failed request. */
const readFailed: Steps = (page) =>
  page.getByRole("main").getByRole("link", { name: "Failed", exact: true }).first().click();
const connect: Steps = (page) => page.context().setOffline(false);

/** Everything that has a picture of its own. `shared` is the id of a public document. */
export function viewsOf({ pages, document, failedRun }: WebExample, shared: string): readonly View[] {
  const path = `/d/${document}`;
  const run = `/runs/${failedRun}`;
  const own = (name: string, at: string, open?: Steps, close?: Steps): View => ({
    name,
    path: at,
    who: "owner",
    ...(open === undefined ? {} : { open }),
    ...(close === undefined ? {} : { close }),
  });
  return [
    { name: "home", path: "/", who: "nobody" },
    { name: "login", path: "/runs", who: "nobody", open: click("button", "Sign in") },
    { name: "guide-visitor", path: "/guide/documents-sharing", who: "nobody" },
    { name: "public-document", path: `/d/${shared}`, who: "nobody" },
    ...Object.entries(pages).map(([name, at]) => own(name, at)),
    own("comments", `${path}?panel=comments`),
    own("history", `${path}?panel=history`),
    own("outline", `${path}?panel=outline`),
    own("guide-steps", "/guide/steps-bash"),
    own("settings-notifications", "/settings/notifications"),
    own("settings-data", "/settings/data"),
    ...["functions", "rules", "tables", "limits"].map((part) =>
      own(`platform-${part}`, `/platform?part=${part}`),
    ),
    ...["graph", "run", "triggers"].map((panel) =>
      own(`workflow-${panel}`, `/workflows/deploy?panel=${panel}`),
    ),
    own("rerun", `${run}?panel=rerun`),
    own("artifacts", `${run}?view=artifacts`),
    own("step-output", `${run}?step=upload&tab=output`),
    own("not-found-title", "/?q=nothing"),
    own("menu-row", "/", all(click("button", "Actions for Handbook"), waitFor("menu"))),
    own("menu-document", path, all(click("button", "Actions for this document"), waitFor("menu"))),
    own("menu-copy", "/runs", all(click("button", "Copy as a command"), waitFor("menu"))),
    own("menu-block", path, all(writeBelow, press("Control+/"), waitFor("menu"))),
    own("menu-slash", path, typeBelow("/"), removeTyped(2)),
    own("menu-mention", path, typeBelow("@"), removeTyped(2)),
    own("menu-emoji", path, typeBelow(":roc"), removeTyped(5)),
    own("toolbar", path, all(writeBelow, selectWord, waitFor("toolbar"))),
    own("share", path, all(click("button", "Share"), waitFor("dialog"))),
    own(
      "export",
      path,
      all(click("button", "Actions for this document"), click("menuitem", "Export…"), waitFor("dialog")),
    ),
    own(
      "move",
      path,
      all(click("button", "Actions for this document"), click("menuitem", "Move to…"), waitFor("dialog")),
    ),
    own("presentation", path, all(writeBelow, click("button", "Present"), waitFor("dialog"))),
    own("palette", "/", all(press("Control+k"), waitFor("dialog"))),
    own(
      "palette-found",
      "/",
      all(
        press("Control+k"),
        waitFor("dialog"),
        (page) => page.keyboard.type("plan"),
        (page) => page.getByRole("dialog").getByText("Plan for the autumn").first().waitFor(),
      ),
    ),
    own("shortcuts", "/", all(press("?"), waitFor("dialog"))),
    own("menu-help", "/", openFromSide("Help")),
    own("menu-account", "/", openFromSide("Account")),
    own("failed-request", "/workflows", failReads, (page) => page.unroute("**/automation/workflows*")),
    own("offline", "/runs", all(disconnect, readFailed, waitForNotice), connect),
    own("offline-document", path, all(writeBelow, disconnect, waitForNotice), connect),
    own("missing-document", "/d/11111111-1111-4111-8111-111111111111"),
    { name: "no-access", path, who: "guest" },
    { name: "no-access-platform", path: "/platform", who: "guest" },
    { name: "no-access-tokens", path: "/settings/tokens", who: "guest" },
    ...Object.entries(EMPTY_LISTS).map(
      ([name, at]): View => ({ name: `empty-${name}`, path: at, who: "newcomer" }),
    ),
  ];
}

/** Opens a menu of the navigation, which is a sheet on a small screen. */
function openFromSide(name: string): Steps {
  return async (page) => {
    const navigation = page.getByRole("button", { name: "Open the navigation" });
    if (await navigation.isVisible()) {
      await navigation.click();
      await page.getByRole("dialog").waitFor();
    }
    await page
      .getByRole("button", { name: new RegExp(`^${name}`) })
      .last()
      .click();
    await page.getByRole("menu").waitFor();
  };
}
