import { expect, it } from 'vitest';
import { wayInside } from '../../src/shared/way-inside.js';

it('a way leads to what lies in a folder, also where a name begins with two dots, and to nothing outside', () => {
  expect(wayInside('/a/b', '/a/b')).toBe('');
  expect(wayInside('/a/b', '/a/b/c/d.js')).toBe('c/d.js');
  expect(wayInside('/a/b', '/a/b/..c/d.js')).toBe('..c/d.js');
  for (const outside of ['/a', '/a/c', '/a/bc', '/']) expect(wayInside('/a/b', outside)).toBeUndefined();
});
