/** Stores a message besides a turn's reply and has it delivered at once. Stored first: what was posted survives whatever comes next. */
import type { Outbox } from "../contracts/delivery.ts";
import type { ChatPoster, PostStore } from "../contracts/store/posts.ts";
import type { Clock } from "../kit/clock.ts";

interface PosterDeps {
  readonly clock: Clock;
  readonly store: Pick<PostStore, "post">;
  readonly outbox: Pick<Outbox, "wake">;
}

export function createPoster({ clock, store, outbox }: PosterDeps): ChatPoster {
  return {
    async post(wanted) {
      const posted = await store.post({ ...wanted, at: clock.now() });
      if (posted.kind === "posted") outbox.wake();
      return posted;
    },
  };
}
