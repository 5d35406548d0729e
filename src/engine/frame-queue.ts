/**
 * Frames on their way into a pipe. A stream that holds many tells only when none is left, so it gets one large frame at
 * a time: what waits is known frame by frame, and more can be made while the other side still reads.
 */
import type { Writable } from 'node:stream';

export interface FrameQueue {
  write(frame: Buffer): void;
  /** Bytes that the pipe has not taken. */
  readonly waitingBytes: number;
  /** Calls back once when less waits, or in the next tick when nothing waits; never after the end. */
  afterDrain(callback: () => void): void;
}

export function createFrameQueue(pipe: Writable): FrameQueue {
  let frames: Buffer[] = [];
  let bytes = 0;
  pipe.once('close', () => {
    frames = [];
  });
  pipe.on('drain', () => {
    while (frames.length > 0 && !pipe.writableNeedDrain) {
      const frame = frames.shift() as Buffer;
      bytes -= frame.length;
      pipe.write(frame);
    }
  });
  return {
    write(frame) {
      if (pipe.destroyed) return;
      if (!pipe.writableNeedDrain) {
        pipe.write(frame);
        return;
      }
      frames.push(frame);
      bytes += frame.length;
    },
    get waitingBytes() {
      return pipe.destroyed ? 0 : bytes + pipe.writableLength;
    },
    afterDrain(callback) {
      if (pipe.writableNeedDrain) pipe.once('drain', callback);
      else if (!pipe.destroyed) setImmediate(callback);
    },
  };
}
