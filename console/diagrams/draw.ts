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
let drawn = 0;

mermaid.initialize({
  startOnLoad: false,
  securityLevel: "strict",
  theme: "default",
  htmlLabels: false, // text of SVG alone: HTML in it is not drawn everywhere in a picture
  flowchart: { htmlLabels: false },
  suppressErrorRendering: true,
  maxTextSize: 20_000,
  maxEdges: 500,
  fontFamily: "system-ui, sans-serif",
});

addEventListener("message", ({ source, data }: MessageEvent<{ readonly id: number; readonly text: string }>) => {
  if (source !== parent) return;
  const { id, text } = data;
  mermaid
    .render(`diagram-${++drawn}`, text)
    .then(
      ({ svg }) => ({ id, ...withSize(svg) }),
      (error: unknown) => ({ id, problem: error instanceof Error ? error.message : "It could not be read." }),
    )
    .then((answer) => parent.postMessage(answer, "*"));
});
parent.postMessage({ ready: true }, "*");

/** A picture has a size of its own; the library leaves it to what is around it. */
function withSize(svg: string): { readonly svg: string; readonly width: number; readonly height: number } {
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  const [width, height] = [Number(box?.[1] ?? 0), Number(box?.[2] ?? 0)].map((size) =>
    Math.min(LARGEST_PX, Math.max(1, Math.ceil(size))),
  ) as [number, number];
  const sized = svg.replace(/<svg([^>]*?) width="[^"]*"/, `<svg$1 width="${width}" height="${height}"`);
  return { svg: sized, width, height };
}
