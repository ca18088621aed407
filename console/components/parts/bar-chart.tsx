/** Bars beside each other, oldest first: a picture for the eye, and a table with the same numbers for everybody. */
interface Bar {
  readonly name: string;
  readonly value: number;
}

interface Props {
  /** What a screen reader calls the table. */
  readonly name: string;
  readonly bars: readonly Bar[];
  readonly text: (value: number) => string;
}

const HEIGHT = 160;
const GAP = 0.25;
/** A bar that is there at all can be seen. */
const MIN_HEIGHT = 2;

export function BarChart({ name, bars, text }: Props) {
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const first = bars[0];
  const last = bars.at(-1);
  return (
    <figure class="chart" data-testid="chart">
      <figcaption>
        <span>{text(most)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ name: of, value }, index) => {
          const height = value === 0 || most === 0 ? 0 : Math.max(MIN_HEIGHT, (value / most) * HEIGHT);
          return (
            <rect key={of} x={index + GAP / 2} width={1 - GAP} y={HEIGHT - height} height={height}>
              <title>
                {of}: {text(value)}
              </title>
            </rect>
          );
        })}
      </svg>
      <p class="chart-ends" aria-hidden="true">
        <span>{first?.name}</span>
        {last !== first && <span>{last?.name}</span>}
      </p>
      <details>
        <summary>As a table</summary>
        <table>
          <caption class="hidden">{name}</caption>
          <tbody>
            {bars.map(({ name: of, value }) => (
              <tr key={of}>
                <th scope="row">{of}</th>
                <td>{text(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
