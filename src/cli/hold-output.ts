/** Keeps what is printed back while a question stands on the screen, so that nothing scrolls it away. */
import type { WriteText } from '../report/write-text.js';

/** So many texts are kept; a question may wait overnight. */
const MAX_HELD = 1_000;

export interface HeldOutput {
  write: WriteText;
  /** Passes what is held back, on a line of its own. */
  writeNow: WriteText;
  hold(): void;
  /** Prints what has come meanwhile. @param isLineEnded the person has ended the last line by an answer */
  release(isLineEnded: boolean): void;
}

export function holdOutput(write: WriteText): HeldOutput {
  let held: string[] | undefined;
  let dropped = 0;
  let isLineOpen = false;
  const put = (text: string): void => {
    write(text);
    isLineOpen = !text.endsWith('\n');
  };
  return {
    write(text) {
      if (held === undefined) return put(text);
      held.push(text);
      if (held.length <= MAX_HELD) return;
      held.shift();
      dropped++;
    },
    writeNow: (text) => put(isLineOpen ? `\n${text}` : text),
    hold() {
      held ??= [];
    },
    release(isLineEnded) {
      if (isLineOpen && !isLineEnded) put('\n');
      isLineOpen = false;
      if (dropped > 0) put(`wf: of what came meanwhile ${dropped} lines are left out here; wf logs has them.\n`);
      for (const text of held ?? []) put(text);
      held = undefined;
      dropped = 0;
    },
  };
}
