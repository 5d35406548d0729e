/** A schema as the input of a tool, which must be an object: other roots are put into one. */

export interface ToolSchema {
  schema: object;
  /** The answer itself, out of the tool's input. */
  unwrap(input: unknown): unknown;
}

/** @returns `undefined` for a schema that cannot be put into another one */
export function toToolSchema(schema: object): ToolSchema | undefined {
  // Claude Code's own check knows one draft and refuses the names of the others.
  const { $schema: _draft, ...root } = schema as Record<string, unknown>;
  if (root.type === 'object') return { schema: root, unwrap: (input) => input };
  const { $defs, definitions, $id, ...value } = root;
  if (
    $id !== undefined ||
    /"\$ref":"#(?!\/(\$defs|definitions)\/)|"\$(dynamic|recursive)Ref"/.test(JSON.stringify(root))
  ) {
    return undefined;
  }
  return {
    schema: {
      type: 'object',
      properties: { value },
      required: ['value'],
      additionalProperties: false,
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
    },
    unwrap: (input) => (input as { value?: unknown } | undefined)?.value,
  };
}
