/** One step of the setup: its name, how it is, what is asked, and what a try or saving of it said. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { SetupCheck, SetupInput } from "../../../src/contracts/setup.ts";
import { checks, saveStep, testStep } from "../../state/setup-state.ts";
import { Icon } from "../icons.tsx";

interface StepProps {
  readonly name: string;
  /** Part of the address: `#/system/setup/model` leads here. */
  readonly id: string;
  readonly check?: SetupCheck["check"];
  readonly children: ComponentChildren;
}

export function Step({ name, id, check, children }: StepProps) {
  const found = checks.value?.find((one) => one.check === check);
  return (
    <section class="part setup-step" aria-labelledby={`setup-${id}`} data-testid={`step-${id}`} data-done={found?.done}>
      <h2 id={`setup-${id}`} tabindex={-1}>
        {found && <Icon name={found.done ? "check" : "unknown"} size={18} />} {name}
      </h2>
      {found && (
        <p class="about" dir="auto">
          {found.say}
        </p>
      )}
      {children}
    </section>
  );
}

interface Trying {
  readonly busy: boolean;
  readonly said: { readonly ok: boolean; readonly say: string } | null;
  /** Ids of models that the last try has listed. */
  readonly models: readonly string[];
  test(step: Pick<SetupInput, "model" | "channel">): Promise<void>;
  /** True: it is in force. */
  save(step: SetupInput): Promise<boolean>;
}

export function useTrying(): Trying {
  const busy = useSignal(false);
  const said = useSignal<Trying["said"]>(null);
  const models = useSignal<readonly string[]>([]);
  const during = async <T,>(work: () => Promise<T>): Promise<T> => {
    busy.value = true;
    said.value = null;
    try {
      return await work();
    } finally {
      busy.value = false;
    }
  };
  return {
    busy: busy.value,
    said: said.value,
    models: models.value,
    test: (step) =>
      during(async () => {
        const answer = await testStep(step);
        said.value = answer.ok ? answer.value : { ok: false, say: answer.error.message };
        if (answer.ok) models.value = answer.value.models;
      }),
    save: (step) =>
      during(async () => {
        said.value = await saveStep(step);
        return said.value.ok;
      }),
  };
}

export function Said({ trying }: { readonly trying: Trying }) {
  const { busy, said } = trying;
  if (busy)
    return (
      <p class="about" role="status">
        Trying it…
      </p>
    );
  if (said === null) return null;
  return (
    <p
      class={said.ok ? "setup-good" : "form-problem"}
      role={said.ok ? "status" : "alert"}
      data-testid="setup-said"
      dir="auto"
    >
      {said.say}
    </p>
  );
}

interface ButtonsProps {
  readonly trying: Trying;
  /** Something is still missing. */
  readonly incomplete: boolean;
  readonly onTest: () => void;
}

/** Saving tries it first, so that nothing is written that does not work. */
export function StepButtons({ trying, incomplete, onTest }: ButtonsProps) {
  const disabled = trying.busy || incomplete;
  return (
    <>
      <button type="button" class="quiet edged" disabled={disabled} onClick={onTest}>
        Test
      </button>
      <button type="submit" class="primary" disabled={disabled}>
        Save
      </button>
    </>
  );
}
