/** Names and values below each other. A value that is not there is left out with its name. */
import type { ComponentChildren } from "preact";

/** The third is for tests and scripts: what the value is found by. */
export type Fact = readonly [name: string, value: ComponentChildren, testId?: string];

export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value, testId]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd data-testid={testId} dir="auto">
              {value}
            </dd>
          </div>
        ))}
    </dl>
  );
}
