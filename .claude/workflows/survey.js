export const meta = {
  name: 'survey',
  description: 'Surveys a folder: lists its source files, takes the facts of each, and adds them up in code.',
  whenToUse: 'args: { folder?, ending?, limit? }, for example: wf run survey --arg folder=src',
  phases: [{ title: 'List' }, { title: 'Facts', detail: 'size, then exports, file by file' }],
}

const folder = args?.folder ?? 'src'
const ending = args?.ending ?? '.ts'
const limit = Number(args?.limit ?? 16)

const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })
const FILES = object({ files: { type: 'array', items: { type: 'string' } } })
const SIZE = object({ lines: { type: 'integer' }, words: { type: 'integer' } })
const OUTLINE = object({ exports: { type: 'array', items: { type: 'string' } } })

phase('List')
const listed = await agent(
  `List the files of this folder and of every folder below it whose names end as given.
Task: list
Folder: ${folder}
Ending: ${ending}`,
  { label: `list ${folder}`, schema: FILES },
)
if (!listed) return { status: 'no list', folder }

const files = listed.files.slice(0, limit)
log(`${files.length} of ${listed.files.length} files${files.length < listed.files.length ? '; --arg limit=… takes more' : ''}`)

phase('Facts')
const facts = await pipeline(
  files,
  (file) =>
    agent(`Count the lines and words of this file.\nTask: count\nFile: ${file}`, { label: `${file} size`, phase: 'Facts', schema: SIZE }),
  async (size, file) => {
    if (!size) return null
    const outline = await agent(`Name what this file exports.\nTask: outline\nFile: ${file}`, {
      label: `${file} exports`,
      phase: 'Facts',
      schema: OUTLINE,
    })
    return { file, ...size, exports: outline?.exports ?? [] }
  },
)

const read = facts.filter(Boolean)
const sum = (of) => read.reduce((total, each) => total + of(each), 0)
const largest = [...read].sort((a, b) => b.lines - a.lines || (a.file < b.file ? -1 : 1)).slice(0, 5)
return {
  status: read.length === files.length ? 'surveyed' : 'in part',
  folder,
  files: read.length,
  lines: sum((each) => each.lines),
  words: sum((each) => each.words),
  exports: sum((each) => each.exports.length),
  largest: largest.map((each) => ({ file: each.file, lines: each.lines, exports: each.exports.length })),
  notRead: files.filter((_, index) => !facts[index]),
}
