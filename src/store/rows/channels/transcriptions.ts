/** What was said in voice messages. A cache: losing a row costs one more transcription. */
import type { TranscriptionStore } from "../../../contracts/store/transcriptions.ts";
import type { SpokenWordTable } from "../../schema.ts";
import type { Params } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";
import { newValues } from "../terms.ts";

/** Older ones are dropped when a new one comes. */
const SPOKEN_WORDS_KEPT_MS = 90 * 86_400_000;

export function createTranscriptions({ sql, read, write }: RowDeps): TranscriptionStore {
  const find = sql.prepare((db, p: Params<{ digest: string }>) =>
    db.selectFrom("spoken_words").select("words").where("digest", "=", p("digest")),
  );
  const put = sql.prepare((db, p: Params<SpokenWordTable>) =>
    db
      .insertInto("spoken_words")
      .values(p.row("digest", "words", "at"))
      .onConflict((conflict) => conflict.column("digest").doUpdateSet(newValues("words", "at"))),
  );
  const dropOld = sql.prepare((db, p: Params<{ before: number }>) =>
    db.deleteFrom("spoken_words").where("at", "<", p("before")),
  );
  return {
    find: (digest) =>
      read(function* () {
        return (yield* find.first({ digest }))?.words ?? null;
      }),
    put: (digest, words, at) =>
      write(function* () {
        yield* dropOld.run({ before: at - SPOKEN_WORDS_KEPT_MS });
        yield* put.run({ digest, words, at });
      }),
  };
}
