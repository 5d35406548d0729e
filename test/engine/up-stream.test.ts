import { describe, expect, it } from 'vitest';
import { createUpStream } from '../../src/engine/sandbox/up-stream.js';

describe('what the sandbox tells', () => {
  it('leaves in part as soon as half of the open calls are in it, and never a few of them', () => {
    const written: string[] = [];
    const up = createUpStream((text) => written.push(text));
    for (let n = 1; n <= 7; n++) {
      up.addCall(`["c",${n}]`);
      up.share(10);
    }
    expect(written).toEqual([]);
    up.addCall('["c",8]');
    up.share(40);
    expect(written).toEqual([]);
    up.share(16);
    expect(written.map((text) => JSON.parse(text).events.length)).toEqual([8]);
    expect(JSON.parse(written[0] as string)).toMatchObject({ t: 'events', rest: false });
    up.share(0);
    up.flush(true);
    expect(JSON.parse(written[1] as string)).toEqual({ t: 'events', got: 0, rest: true, events: [] });
  });
});
