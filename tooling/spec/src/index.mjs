import { readdirSync, readFileSync } from 'node:fs'

const published = new URL('../schema/2026-07-28/', import.meta.url)

/** Where the files are. */
export const paths = {
  schema: new URL('schema.json', published),
  examples: new URL('examples/', published),
  requirements: new URL('../requirements.tsv', import.meta.url),
}

/** The published JSON Schema. */
export function readSchema() {
  return JSON.parse(readFileSync(paths.schema, 'utf8'))
}

/** Every published example, with the name of the definition that it is of. */
export function examples() {
  return readdirSync(paths.examples, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => {
      const text = readFileSync(new URL(file, paths.examples), 'utf8')
      return { definition: file.slice(0, file.search(/[/\\]/)), file, text, value: JSON.parse(text) }
    })
}

/** Every requirement, in the order of the specification's pages. */
export function requirements() {
  const [, ...rows] = readFileSync(paths.requirements, 'utf8').trimEnd().split('\n')
  return rows.map((row) => {
    const [id, page, role, level, paraphrase] = row.split('\t')
    return { id, page, role, level, paraphrase }
  })
}
