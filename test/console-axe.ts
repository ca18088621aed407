/** Asks axe what is wrong with a page in every look it has. Reports rule and place, nothing that a test could not act on. */
import type { Page } from "playwright-core";

const WIDE = { width: 1_280, height: 800 } as const;
const PHONE = { width: 375, height: 720 } as const;
/** In the dark a page differs in its colours alone, so only the rules about those are asked again. */
const COLOURS = ["color-contrast", "link-in-text-block"];
const LOOKS = [
  { name: "light", colorScheme: "light", viewport: WIDE, rules: null },
  { name: "dark", colorScheme: "dark", viewport: WIDE, rules: COLOURS },
  { name: "phone", colorScheme: "light", viewport: PHONE, rules: null },
  { name: "dark phone", colorScheme: "dark", viewport: PHONE, rules: COLOURS },
] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window")))
    await page.evaluate(await Bun.file(new URL(import.meta.resolve("axe-core/axe.min.js"))).text());
  const found: string[] = [];
  const before = page.viewportSize() ?? WIDE;
  for (const { name, colorScheme, viewport, rules } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const options = { resultTypes: ["violations"], preload: false, ...(rules ? { runOnly: rules } : {}) };
    const violations = await page.evaluate<readonly Violation[]>(
      `axe.run(${JSON.stringify(options)}).then((result) => result.violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => ({ target })) })))`,
    );
    for (const { id, nodes } of violations)
      found.push(...nodes.map(({ target }) => `${name}: ${id} at ${target.join(" ")}`));
    if (await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"))
      found.push(`${name}: wider than the window`);
  }
  found.push(...(await sticksOutInRtl(page)));
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
  return found;
}

/** Right to left a page has the same elements and colours; what goes wrong is where they are. */
async function sticksOutInRtl(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  await page.evaluate("document.documentElement.dir = 'rtl'");
  for (const [name, viewport] of [
    ["wide", WIDE],
    ["phone", PHONE],
  ] as const) {
    await page.setViewportSize(viewport);
    const wider = await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth");
    if (wider) found.push(`right to left, ${name}: wider than the window`);
  }
  await page.evaluate("document.documentElement.dir = 'ltr'");
  return found;
}
