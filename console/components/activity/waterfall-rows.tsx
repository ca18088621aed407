/** Bars below each other on one scale of time; the same facts stand there as text. */
import { took } from "../../net/error-text.ts";
import type { Waterfall } from "../../text/waterfall.ts";

export function WaterfallRows({ waterfall: { bars } }: { readonly waterfall: Waterfall }) {
  return (
    <ol class="waterfall" data-testid="waterfall">
      {bars.map(({ name, note, kind, depth, startMs, ms, offset, width }, index) => (
        <li key={index} data-kind={kind} style={{ "--depth": depth }}>
          <span class="waterfall-name" title={note || undefined}>
            {name}
            {note !== "" && <small>{note}</small>}
          </span>
          <span class="waterfall-track" aria-hidden="true">
            <i style={{ insetInlineStart: `${offset}%`, width: `${width}%` }} />
          </span>
          <span class="tool-ms">
            {took(ms)}
            <span class="hidden"> from {took(startMs)} on</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
