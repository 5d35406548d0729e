/** Compilers of JSON Schemas; loaded with the first schema that stands in a script. */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

const OPTIONS = {
  strict: false,
  logger: false,
  validateFormats: false,
  unicodeRegExp: false,
  addUsedSchema: false,
  // Code that stops at the first error nests by properties, and thousands of them outgrow the stack.
  allErrors: true,
  code: { optimize: false },
} as const;

/** @param draft 2020 stands for 2019-09 too */
export const createCompiler = (draft: 7 | 2020): { compile(schema: object): unknown } =>
  draft === 7 ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
