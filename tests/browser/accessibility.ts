import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect } from "vitest";

/** The default rules of axe that depend on colors. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Expects that axe finds nothing in a page, in both themes. `parts` are CSS selectors that limit what is checked.
 *
 * The themes differ only in colors, so the other rules run once. The theme of the page is the same afterwards.
 */
export async function expectAccessible(page: Page, ...parts: string[]): Promise<void> {
  const [shown, other] = (await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches))
    ? (["dark", "light"] as const)
    : (["light", "dark"] as const);
  // Without frames of other origins, the legacy mode finds the same, and opens no page of its own for its results.
  const axe = () =>
    parts.reduce((builder, part) => builder.include(part), new AxeBuilder({ page }).setLegacyMode());
  expect(await violationsOf(axe())).toEqual([]);
  await page.emulateMedia({ colorScheme: other });
  expect(await violationsOf(axe().withRules(COLOR_RULES))).toEqual([]);
  await page.emulateMedia({ colorScheme: shown });
}

async function violationsOf(axe: AxeBuilder): Promise<string[]> {
  const { violations, url } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${url}: ${id}: ${html}`));
}
