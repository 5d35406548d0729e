/** Single lines as the engine writes them. */
import { hitText, resultText, scriptText, timerText } from '../../../src/journal/encode.js';
import { createLineBatch } from '../../../src/journal/line.js';

function line(pieces: readonly string[]): Buffer {
  const batch = createLineBatch(64);
  batch.addText(pieces);
  return batch.take();
}

export const encodeResult = (...args: Parameters<typeof resultText>): Buffer => line(resultText(...args));
export const encodeHit = (entry: Parameters<typeof hitText>[0]): Buffer => line([hitText(entry)]);
export const encodeTimer = (entry: Parameters<typeof timerText>[0]): Buffer => line([timerText(entry)]);
export const encodeScript = (entry: Parameters<typeof scriptText>[0]): Buffer => line([scriptText(entry)]);
