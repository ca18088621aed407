/** A diagram as a picture, with its text below; only the text when it cannot be drawn. */
import { useEffect, useState } from "preact/hooks";
import { isDark } from "../state/theme.ts";
import { type Drawing, drawDiagram } from "./frame.ts";

export function Diagram({ text }: { readonly text: string }) {
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const dark = isDark.value;
  useEffect(() => {
    let current = true;
    void drawDiagram(text, dark).then((drawn) => current && setDrawing(drawn));
    return () => {
      current = false;
    };
  }, [text, dark]);
  if (drawing === null || "problem" in drawing)
    return (
      <figure class="diagram">
        <Source text={text} />
        <figcaption class="row-note" data-testid="diagram-note" dir="auto">
          {drawing === null ? "Drawing the diagram…" : `This diagram could not be drawn. ${drawing.problem}`}
        </figcaption>
      </figure>
    );
  return (
    <figure class="diagram">
      <div
        class={drawing.isDark ? "diagram-paper dark" : "diagram-paper"}
        tabindex={0}
        role="region"
        aria-label="Diagram"
      >
        <img
          data-testid="diagram"
          src={drawing.url}
          width={drawing.width}
          height={drawing.height}
          alt="A diagram, drawn from the text below"
        />
      </div>
      <details>
        <summary class="row-note">Text of the diagram</summary>
        <Source text={text} />
      </details>
    </figure>
  );
}

function Source({ text }: { readonly text: string }) {
  return (
    <div class="code">
      <pre tabindex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
