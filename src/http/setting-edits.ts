/** Changes of settings as the body of a request has them: names from the root on, and a value of any kind, which the configuration checks. */
import { Type } from "typebox";
import type { SettingEdit } from "../contracts/config-api.ts";

const MAX_NAME_CHARS = 200;
const MAX_COMMENT_CHARS = 200;
const ONE_LINE = "^[^\\r\\n\\u2028\\u2029]*$";
const MAX_EDITS = 100;
const MAX_DEPTH = 32;

export function settingEdits() {
  const edit = Type.Object(
    {
      path: Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS }), { minItems: 1, maxItems: MAX_DEPTH }),
      value: Type.Optional(Type.Unknown()),
      comment: Type.Optional(Type.String({ maxLength: MAX_COMMENT_CHARS, pattern: ONE_LINE })),
    },
    { additionalProperties: false },
  );
  return Type.Unsafe<readonly SettingEdit[]>(Type.Array(edit, { minItems: 1, maxItems: MAX_EDITS }));
}
