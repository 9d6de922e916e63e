import type { ReactNode } from "react";
import { Route, Switch } from "wouter";
import { later } from "../components/later.tsx";
import { ROUTES, routeAt } from "./routes.ts";
import { StatusPage } from "./status-page.tsx";

const PAGES = ROUTES.map(({ path, load, texts }) => ({ path, Page: later(load, { texts, isPage: true }) }));

/** Loads the page of an address before it is shown; resolves at once if the address has no page. */
export async function preparePage(path: string): Promise<void> {
  const route = routeAt(path)?.route;
  await PAGES.find((page) => page.path === route?.path)?.Page.prepare();
}

/** Which page an address has. */
export const Pages = (): ReactNode => (
  <Switch>
    {PAGES.map(({ path, Page }) => (
      <Route key={path} path={path}>
        {/* Another document or run is another page; another part of the settings is not. */}
        {(parameters: Readonly<Record<string, string>>) => (
          <Page key={parameters["name"] ?? parameters["id"]} {...parameters} />
        )}
      </Route>
    ))}
    <Route>
      <StatusPage kind="missing" />
    </Route>
  </Switch>
);
