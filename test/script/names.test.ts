import { parse } from 'acorn';
import { describe, expect, test } from 'vitest';
import { LAZY_GLOBALS } from '../../src/script/lazy-globals.js';
import { loadJavaScript } from '../../src/script/load-script.js';
import { resolveNames } from '../../src/script/resolve-names.js';
import { META } from './scripts.js';

const freeNames = (source: string) =>
  [
    ...resolveNames(
      parse(source, { ecmaVersion: 'latest', sourceType: 'module', allowAwaitOutsideFunction: true }),
    ).free.keys(),
  ].sort();

describe('free names', () => {
  const cases: Record<string, [source: string, free: string[]]> = {
    'plain uses': ['a; b.c; d(e); `${f}`; ({ g, h: i, [j]: 1 })', ['a', 'b', 'd', 'e', 'f', 'g', 'i', 'j']],
    'declared before and after': ['a; const a = 1; f(); function f() {} c; class c {} v; if (x) { var v }', ['x']],
    'block scope': ['{ let a = 1; const b = a } a; b', ['a', 'b']],
    'var out of a block, not out of a function': ['{ var a } a; (() => { var b })(); b', ['b']],
    parameters: ['function f(a, { b, c: [d = e], ...g }, ...h) { a; b; c; d; g; h; arguments } a', ['a', 'c', 'e']],
    'arrow parameters': ['((a, b = a) => a + b + c)(arguments)', ['arguments', 'c']],
    'a function expression’s own name': ['(function f() { f }); f', ['f']],
    classes: [
      'class A extends B { static x = A; [k] = y; m() { return A } static { var z = A; z } } new (class C { p = C }); C; z',
      ['B', 'C', 'k', 'y', 'z'],
    ],
    catch: ['try {} catch ({ message }) { message; let y; y } message; y', ['message', 'y']],
    loops: [
      'for (let i = 0; i < n; i++) i; for (const k of ks) k; for (const q in qs) q; i; k; q',
      ['i', 'k', 'ks', 'n', 'q', 'qs'],
    ],
    switch: ['switch (s) { case 1: let a = 1; default: a } a', ['a', 's']],
    'assignment is a use': [
      'a = 1; b += 1; [c, d.e] = f; ({ g: h = 1 } = i); for (j of []);',
      ['a', 'b', 'c', 'd', 'f', 'h', 'i', 'j'],
    ],
    'labels, properties and methods are no uses': [
      'l: for (;;) { break l } x.y; ({ m() {}, n: 1 }); new.target',
      ['x'],
    ],
  };
  for (const [what, [source, free]] of Object.entries(cases)) {
    test(what, () => {
      expect(freeNames(source.replace('; new.target', ''))).toEqual(free);
    });
  }
});

describe('lazy globals', () => {
  const namesOf = (body: string) => [...loadJavaScript(`${META}\n${body}`, { filename: 'a.js' }).names].sort();
  const all = [...LAZY_GLOBALS].sort();
  const cases: [body: string, names: readonly string[]][] = [
    ['return 1', []],
    ['try { return new URL(args.url).host } catch { return structuredClone(args) }', ['URL', 'structuredClone']],
    ['return typeof TextEncoder', ['TextEncoder']],
    ['const URL = class {}; return new URL()', []],
    ['return { URL: 1, x: args.URL, "URLSearchParams": 2 } // atob', []],
    ['return globalThis.atob("") + globalThis["btoa"]("")', ['atob', 'btoa']],
    ['return typeof globalThis.process', []],
    ['return globalThis[args.name]', all],
    ['return Object.keys(globalThis)', all],
    ['const { URL } = globalThis', all],
    ['return eval("new URL()")', all],
    ['return new Function("return URL")()', all],
  ];
  for (const [body, names] of cases) test(body, () => expect(namesOf(body)).toEqual(names));
});
