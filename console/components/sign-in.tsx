/** Asks for the token or password, and says where to find it. Holds the secret only until it is sent. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { duration } from "../net/error-text.ts";
import { signInWith } from "../state/console-state.ts";
import { Logo } from "./icons.tsx";

const TICK_MS = 500;

export function SignIn({ problem, lockedUntil }: { readonly problem: string | null; readonly lockedUntil: number }) {
  const secret = useSignal("");
  const busy = useSignal(false);
  const leftMs = useCountdown(lockedUntil);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!secret.value.trim() || busy.value) return;
    busy.value = true;
    await signInWith(secret.value.trim());
    busy.value = false;
  };
  return (
    <main class="sign-in-view">
      <form class="sign-in" data-testid="sign-in" onSubmit={(event) => void submit(event)}>
        <Logo />
        <h1>Sign in to pi-gateway</h1>
        <p class="soft">
          Open the sign-in link the gateway printed when it started, or paste its token here. The token is the line in
          the file <code>token</code> in the gateway's state directory. A gateway in password mode takes the password
          instead.
        </p>
        <label for="secret">Token or password</label>
        <input
          id="secret"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          autofocus
          value={secret.value}
          aria-describedby="sign-in-problem"
          aria-invalid={problem !== null}
          onInput={(event) => (secret.value = event.currentTarget.value)}
        />
        <p id="sign-in-problem" class="problem" role="alert">
          {leftMs > 0 ? `Too many failed attempts. A password is checked again in ${duration(leftMs)}.` : problem}
        </p>
        <button type="submit" class="primary" disabled={busy.value || !secret.value.trim()}>
          {busy.value ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}

function useCountdown(until: number): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    now.value = Date.now();
    if (until <= Date.now()) return;
    const timer = setInterval(() => (now.value = Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [until]);
  return Math.max(0, until - now.value);
}
