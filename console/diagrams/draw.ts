/**
 * Runs inside of diagram.html, next to the library that draws. That document has no origin, no network and nothing of the web console: it
 * gets the text of a diagram and gives back a picture. What models write is not trusted, and neither is a library that reads it.
 */
interface Library {
  initialize(settings: object): void;
  render(id: string, text: string): Promise<{ readonly svg: string }>;
}

declare const mermaid: Library;

const LARGEST_PX = 4_000;
const SETTINGS = {
  startOnLoad: false,
  securityLevel: "strict",
  htmlLabels: false, // text of SVG alone: HTML in it is not drawn everywhere in a picture
  flowchart: { htmlLabels: false },
  suppressErrorRendering: true,
  maxTextSize: 20_000,
  maxEdges: 500,
  fontFamily: "system-ui, sans-serif",
};
let drawn = 0;
/** One after the other: the library has one look at a time. Never rejects. */
let last: Promise<unknown> = Promise.resolve();

interface Asked {
  readonly id: number;
  readonly text: string;
  readonly isDark: boolean;
}

addEventListener("message", ({ source, data }: MessageEvent<Asked>) => {
  if (source !== parent) return;
  last = last.then(() => answered(data)).then((answer) => parent.postMessage(answer, "*"));
});
parent.postMessage({ ready: true }, "*");

/** Never rejects. */
async function answered({ id, text, isDark }: Asked): Promise<object> {
  try {
    mermaid.initialize({ ...SETTINGS, theme: isDark ? "dark" : "default" });
    const { svg } = await mermaid.render(`diagram-${++drawn}`, text);
    return { id, ...withSize(svg) };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : "It could not be read." };
  }
}

/** A picture has a size of its own; the library leaves it to what is around it. */
function withSize(svg: string): { readonly svg: string; readonly width: number; readonly height: number } {
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  const [width, height] = [Number(box?.[1] ?? 0), Number(box?.[2] ?? 0)].map((size) =>
    Math.min(LARGEST_PX, Math.max(1, Math.ceil(size))),
  ) as [number, number];
  const sized = svg.replace(/<svg([^>]*?) width="[^"]*"/, `<svg$1 width="${width}" height="${height}"`);
  return { svg: sized, width, height };
}
