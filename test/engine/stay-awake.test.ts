/** Whether the event loop is kept from sleeping shows in what it has to do. */
import { setImmediate as pass } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createWakefulness } from '../../src/engine/stay-awake.js';

const isAwake = (): boolean => process.getActiveResourcesInfo().includes('Immediate');

describe('after an answer', () => {
  let now = 1;
  const passTime = async (ms: number): Promise<void> => {
    now += ms;
    await pass();
    await pass();
  };
  afterEach(() => passTime(1000));

  const open = (cores = 2) => {
    const wakefulness = createWakefulness(cores, () => now);
    const reply = (afterMs: number): void => {
      wakefulness.sent();
      now += afterMs;
      wakefulness.received();
    };
    return { ...wakefulness, reply };
  };

  it('a process stays awake while a reply is due, where the one before was quick', async () => {
    const { sent, received, reply } = open();
    reply(0.1);
    sent();
    expect(isAwake()).toBe(true);
    await passTime(0.1);
    expect(isAwake()).toBe(true);
    received();
    await passTime(0);
    expect(isAwake()).toBe(false);
  });

  it('it goes to sleep when the reply takes longer than that, and does not stay awake the next time', async () => {
    const { sent, received, reply } = open();
    reply(0.1);
    sent();
    await passTime(5);
    expect(isAwake()).toBe(false);
    received();
    sent();
    expect(isAwake()).toBe(false);
    received();
    reply(0.1);
    sent();
    expect(isAwake()).toBe(true);
  });

  it('the first one, and any on a machine with one core, is slept for', () => {
    const first = open();
    first.sent();
    expect(isAwake()).toBe(false);
    const alone = open(1);
    alone.reply(0.1);
    alone.sent();
    expect(isAwake()).toBe(false);
  });
});
