/** Colours for a few words. Off unless the caller says so; then nothing but plain text is ever written. */
export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  doubtful(text: string): string;
  quiet(text: string): string;
  strong(text: string): string;
}

const same = (text: string): string => text;

export const plainPaint: Paint = { good: same, bad: same, doubtful: same, quiet: same, strong: same };

/** Loads the colour library only when colours are on. */
export async function loadPaint(colors: boolean): Promise<Paint> {
  if (!colors) return plainPaint;
  const { default: picocolors } = await import('picocolors');
  const { green, red, yellow, dim, bold } = picocolors.createColors(true);
  return { good: green, bad: red, doubtful: yellow, quiet: dim, strong: bold };
}
