import { describe, expect, it } from 'vitest';
import { describeOwner, HEARTBEAT_LIMIT_MS, ownerState } from '../../src/runs/owner.js';
import { ownerSchema } from '../../src/runs/records.js';
import { deadOwner, foreignOwner } from './support/sample-records.js';

const now = Date.now();

describe('ownerState', () => {
  it('describes this process as its schema has it, with a token of its own each time', () => {
    const owner = describeOwner();
    expect(ownerSchema.parse(owner)).toEqual(owner);
    expect(owner.pid).toBe(process.pid);
    expect(describeOwner().token).not.toBe(owner.token);
  });

  it('O3 on this machine goes by the process, whatever the heartbeat says', () => {
    const old = { ...describeOwner(), heartbeat: '2001-01-01T00:00:00.000Z' };
    expect(ownerState(old, now)).toMatchObject({ state: 'alive', basis: 'process' });
    expect(ownerState({ ...deadOwner(), heartbeat: new Date(now).toISOString() }, now)).toMatchObject({
      state: 'dead',
      basis: 'process',
    });
  });

  it('H6 B-055 tells a reused pid apart, and says so', () => {
    const { state, reason } = ownerState({ ...describeOwner(), startTime: '1' }, now);
    expect(state).toBe('dead');
    expect(reason).toContain('another program');
  });

  it('without a start time goes by the pid alone', () => {
    expect(ownerState({ ...describeOwner(), startTime: null }, now).state).toBe('alive');
    expect(ownerState({ ...deadOwner(), startTime: null }, now).state).toBe('dead');
  });

  it.each([
    ['another host', { host: 'elsewhere' }],
    ['another boot', { bootId: 'other' }],
    ['another container', { pidNamespace: 'pid:[1]' }],
    ['an unknown boot', { bootId: null }],
  ])('on %s goes by the heartbeat, never by the pid', (_, change) => {
    const aged = (ms: number) => ({ ...describeOwner(), ...change, heartbeat: new Date(now - ms).toISOString() });
    expect(ownerState(aged(0), now)).toMatchObject({ state: 'alive', basis: 'heartbeat' });
    expect(ownerState(aged(HEARTBEAT_LIMIT_MS - 1), now).state).toBe('alive');
    expect(ownerState(aged(HEARTBEAT_LIMIT_MS), now).state).toBe('dead');
    expect(ownerState(aged(-86_400_000), now).state).toBe('alive');
  });

  it('takes an unreadable heartbeat for none', () => {
    expect(ownerState({ ...foreignOwner(0), heartbeat: 'yesterday' }, now).state).toBe('dead');
  });
});
