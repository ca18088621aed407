/** What a page of the documentation does in a browser: finds titles, copies code, and has the look that was chosen in the web console. Without it every page can still be read. */
const THEME_KEY = "pi-gateway.theme";
const MAX_FOUND = 12;
const COPIED_MS = 1_500;

/** Address, words, and for a heading the title of its page. */
type Entry = readonly [address: string, text: string, page?: string];

let index: Promise<readonly Entry[]> | null = null;

function useTheme(): void {
  try {
    document.documentElement.dataset.theme = localStorage.getItem(THEME_KEY) ?? "auto";
  } catch {
    // switched off: as the system says
  }
}

/** Titles come before headings, and those that begin with the words before those that have them somewhere. */
function find(entries: readonly Entry[], typed: string): readonly Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const rank = ([, text, page]: Entry): number => {
    const whole = `${text} ${page ?? ""}`.toLowerCase();
    if (!words.every((word) => whole.includes(word))) return -1;
    const begins = text.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1;
    const has = words.some((word) => text.toLowerCase().includes(word)) ? 0 : 4;
    return has + begins + (page === undefined ? 0 : 2);
  };
  return entries
    .map((entry) => ({ entry, at: rank(entry) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => entry);
}

function readIndex(): Promise<readonly Entry[]> {
  index ??= fetch("/docs/search.json")
    .then(async (response) => (response.ok ? ((await response.json()) as readonly Entry[]) : []))
    .catch(() => {
      index = null; // the next letter tries again
      return [];
    });
  return index;
}

function search(): void {
  const input = document.querySelector<HTMLInputElement>("#search");
  const list = document.querySelector<HTMLUListElement>("#found");
  const count = document.querySelector<HTMLElement>("#found-count");
  if (!input || !list || !count) return;
  const show = async (): Promise<void> => {
    const typed = input.value;
    const found = find(await readIndex(), typed);
    if (input.value !== typed) return; // more was typed meanwhile
    list.replaceChildren(...found.map(rowOf));
    list.hidden = found.length === 0;
    count.textContent = typed.trim() === "" ? "" : `${found.length} found`;
  };
  const close = (): void => {
    list.hidden = true;
  };
  input.addEventListener("input", () => void show());
  input.form?.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  input.form?.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "Escape") {
      close();
      input.focus();
    }
    if (list.hidden || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    const next = at + (event.key === "ArrowDown" ? 1 : -1);
    if (next < 0) input.focus();
    else links[Math.min(next, links.length - 1)]?.focus();
  });
  list.addEventListener("click", close); // a heading of this page loads nothing
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    input.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!input.form?.contains(event.target as Node)) close();
  });
}

function rowOf([address, text, page]: Entry): HTMLLIElement {
  const row = document.createElement("li");
  const link = document.createElement("a");
  link.href = address;
  link.textContent = text;
  if (page !== undefined) {
    const where = document.createElement("small");
    where.textContent = page;
    link.append(" ", where);
  }
  row.append(link);
  return row;
}

function copyButtons(): void {
  for (const block of document.querySelectorAll("pre")) {
    const box = document.createElement("div");
    box.className = "code-box";
    block.replaceWith(box);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", () => {
      const say = (words: string): void => {
        button.textContent = words;
        setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
      };
      navigator.clipboard.writeText(block.textContent).then(
        () => say("Copied"),
        () => say("Select it"), // no right to, or no HTTPS
      );
    });
    box.append(block, button);
  }
}

/** On a phone the list of pages is closed, so that the text comes first. */
function foldPages(): void {
  const pages = document.querySelector<HTMLDetailsElement>(".pages details");
  if (pages && matchMedia("(max-width: 55.99rem)").matches) pages.open = false;
}

useTheme();
foldPages();
search();
copyButtons();
