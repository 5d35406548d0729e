/** The run-wide settings on the command line: the flags that the table of settings names, read by its rules. */
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { defineRun } from '../../src/cli/commands/run-flags.js';
import { readRunOptions } from '../../src/cli/run-options.js';
import { SETTINGS } from '../../src/config/settings.js';

const TEXTS: Record<string, string> = { effort: 'low', permission: 'read', backend: 'mock', model: 'some' };

it('each setting is a flag of wf run, told in the help, and read as in the environment', () => {
  const program = new Command();
  defineRun(program, () => {});
  const [run] = program.commands;
  for (const { key, flag, option, read } of SETTINGS) {
    const found = run?.options.find(({ long }) => long === flag);
    expect([flag, found?.attributeName(), found?.description]).toEqual([flag, key, expect.stringMatching(/./)]);
    const text = TEXTS[key] ?? '7';
    expect([flag, readRunOptions('flow.js', { [key]: text })[option]]).toEqual([flag, read(flag, text)]);
    if (TEXTS[key] === undefined || ['effort', 'permission'].includes(key))
      expect(() => readRunOptions('flow.js', { [key]: 'much' })).toThrow(`${flag} takes `);
  }
});
