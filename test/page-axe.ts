/** Asks axe what is wrong with a page in every look it has. Reports rule and place, nothing that a test could not act on. */
import type { Page } from "playwright-core";

const WIDE = { width: 1_280, height: 800 } as const;
const PHONE = { width: 375, height: 720 } as const;
const LOOKS = [
  { name: "light", colorScheme: "light", viewport: WIDE },
  { name: "dark", colorScheme: "dark", viewport: WIDE },
  { name: "phone", colorScheme: "light", viewport: PHONE },
  { name: "dark phone", colorScheme: "dark", viewport: PHONE },
] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(await Bun.file(new URL(import.meta.resolve("axe-core"))).text());
  const found: string[] = [];
  for (const { name, colorScheme, viewport } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const violations = await page.evaluate<readonly Violation[]>(
      `axe.run({ resultTypes: ["violations"] }).then((result) => result.violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => ({ target })) })))`,
    );
    for (const { id, nodes } of violations)
      found.push(...nodes.map(({ target }) => `${name}: ${id} at ${target.join(" ")}`));
    if (await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"))
      found.push(`${name}: wider than the window`);
  }
  return found;
}
