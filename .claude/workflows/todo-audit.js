export const meta = {
  name: 'todo-audit',
  description: 'Collects the open notes of a folder and has each file with notes judged by its size: long files first.',
  whenToUse: 'args: { folder?, ending? }, for example: wf run todo-audit --arg folder=src',
  phases: [{ title: 'List' }, { title: 'Notes' }, { title: 'Weigh' }],
}

const folder = args?.folder ?? 'src'
const ending = args?.ending ?? '.ts'
// The definition in .claude/agents/file-facts.md tells an agent with a model how to do these tasks.
const ask = (label, prompt, properties) =>
  agent(prompt, { label, agentType: 'file-facts', schema: { type: 'object', properties, required: Object.keys(properties) } })

phase('List')
const listed = await ask(
  `list ${folder}`,
  `List the files of this folder and of every folder below it.\nTask: list\nFolder: ${folder}\nEnding: ${ending}`,
  { files: { type: 'array', items: { type: 'string' } } },
)
if (!listed) return { status: 'no list', folder }

phase('Notes')
const NOTE = {
  type: 'object',
  properties: { line: { type: 'integer' }, tag: { type: 'string' }, text: { type: 'string' } },
  required: ['line', 'tag', 'text'],
}
const noted = await parallel(
  listed.files.map((file) => async () => {
    const answer = await ask(file, `Collect the open notes (TODO, FIXME, XXX, HACK) of this file.\nTask: todos\nFile: ${file}`, {
      todos: { type: 'array', items: NOTE },
    })
    return answer && { file, notes: answer.todos }
  }),
)
const open = noted.filter((each) => each && each.notes.length > 0)

phase('Weigh')
const weighed = await parallel(
  open.map(({ file, notes }) => async () => {
    const size = await ask(`${file} size`, `Count the lines of this file.\nTask: count\nFile: ${file}`, { lines: { type: 'integer' } })
    return { file, lines: size?.lines ?? null, notes }
  }),
)

return {
  status: noted.every(Boolean) ? 'audited' : 'in part',
  folder,
  files: listed.files.length,
  notes: open.reduce((sum, each) => sum + each.notes.length, 0),
  byFile: weighed.filter(Boolean).sort((a, b) => (b.lines ?? 0) - (a.lines ?? 0)),
}
