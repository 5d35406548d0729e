import { afterEach, describe, expect, it, vi } from 'vitest';
import { createUpStream } from '../../src/engine/sandbox/up-stream.js';

afterEach(() => vi.restoreAllMocks());

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

  it('goes before whatever it asks for, with the number of frames that had come, and is told once', () => {
    const written: string[] = [];
    const up = createUpStream((text) => written.push(text));
    up.countFrame();
    up.add(['t', 1, 5, '']);
    up.countFrame();
    up.need(7);
    up.send({ t: 'end', kind: 'done', hasResult: false });
    expect(written.map((text) => JSON.parse(text))).toEqual([
      { t: 'events', got: 2, rest: false, events: [['t', 1, 5, '']] },
      { t: 'need', kept: 7, got: 2 },
      { t: 'end', kind: 'done', hasResult: false },
    ]);
  });

  it('leaves when it is large, or old: not with each call', () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const written: string[] = [];
    const up = createUpStream((text) => written.push(text));
    up.addText('"small"');
    up.flushIfDue();
    expect(written).toEqual([]);
    up.addText(JSON.stringify('x'.repeat(1 << 16)));
    up.flushIfDue();
    expect(written).toHaveLength(1);
    for (let n = 1; n <= 7; n++) up.addCall(`["c",${n}]`);
    now = 19;
    up.flushIfDue();
    up.share(1);
    expect(written).toHaveLength(1);
    now = 20;
    up.flushIfDue();
    expect(written).toHaveLength(2);
    // The calls that have left count no more.
    up.addCall('["c",8]');
    up.share(1);
    expect(written).toHaveLength(2);
  });
});
