import type { ReactNode } from "react";
import { Route, Switch } from "wouter";
import { later } from "../components/later.tsx";
import { ROUTES, routeAt } from "./routes.ts";
import { StatusPage } from "./status-page.tsx";

const PAGES = ROUTES.map(({ path, load, texts }) => ({ path, Page: later(load, { texts, isPage: true }) }));

/** Loads the page of an address and its first data before it is shown; resolves at once if the address has no page. */
export async function preparePage({ pathname, search }: Location): Promise<void> {
  const route = routeAt(pathname)?.route;
  // What cannot be loaded is loaded again by the page, which shows the error.
  await Promise.allSettled([
    PAGES.find(({ path }) => path === route?.path)?.Page.prepare(),
    route?.prefetch?.(search),
  ]);
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
