import { type ErrorCode, WfError } from '../shared/errors.js';
import type { ScriptFault } from './checked-script.js';
import { placeAt, type ScriptText } from './script-text.js';

/** A fault at an offset of the script's text. */
export interface Finding<Code extends string = string> {
  at: number;
  code: Code;
  message: string;
  remedy?: string;
  severity: 'error' | 'warning';
}

/** A fault for which a run is refused. */
export type Refusal = Finding<ErrorCode>;

/** No report names more; a generated file may hold thousands of the same kind. */
const MOST = 200;

/** The first finding by place as an error, the further ones in its `others`. */
export function refuse(script: ScriptText, findings: readonly Refusal[]): WfError {
  const [first, ...rest] = inOrder(findings).slice(0, MOST);
  const toError = ({ code, message, remedy, at }: Refusal, others: WfError[] = []) =>
    new WfError(code, message, {
      ...(remedy === undefined ? {} : { remedy }),
      place: placeAt(script, at),
      others,
    });
  return toError(
    first as Refusal,
    rest.map((one) => toError(one)),
  );
}

/** Findings as rows of `wf check`, by place. */
export function toFaults(script: ScriptText, findings: readonly Finding[]): ScriptFault[] {
  return inOrder(findings)
    .slice(0, MOST)
    .map(({ at, code, message, severity, remedy }) => {
      const { file, line, column, frame } = placeAt(script, at);
      return { file, line, column, code, message, severity, frame, ...(remedy === undefined ? {} : { remedy }) };
    });
}

const inOrder = <T extends Finding>(findings: readonly T[]): T[] => [...findings].sort((a, b) => a.at - b.at);
