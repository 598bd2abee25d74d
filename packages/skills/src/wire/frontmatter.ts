import { findJsonProblem, isJsonObject, messageOf, quoteText, type JsonObject, type JsonValue } from '@x/core'
import { isScalar, parseDocument, visit, type YAMLMap } from 'yaml'
import { SkillError } from '../skill-error.ts'
import type { SkillFrontmatter } from './skill.ts'

/**
 * The text between a first line `---` and the next line `---`. With the flag `y`, a file without a second one is not
 * searched again from each of its lines.
 */
const frontmatterPattern = /^\uFEFF?---[ \t]*\r?\n(?<yaml>[\s\S]*?)^---[ \t]*$/my

/** A frontmatter is an index entry, while the file as a whole may have 16 MiB. */
// limit: frontmatter | bytes | the YAML at the head of a `SKILL.md` | the skill is rejected
const maxBytes = 65_536

/** The largest frontmatter, and the lines around it. */
const maxSearched = maxBytes + 256

const maxDepth = 32

/**
 * Parses the frontmatter of a `SKILL.md`. The values of YAML's core schema are those of JSON. An alias is an error,
 * because a few aliases of aliases make a value of any size.
 *
 * @throws SkillError `frontmatter` for a file without frontmatter, and for a frontmatter that is not a JSON object with
 *   a `name` and a `description`.
 */
export function parseFrontmatter(markdown: string, uri: string): SkillFrontmatter {
  frontmatterPattern.lastIndex = 0
  const yaml = frontmatterPattern.exec(markdown.slice(0, maxSearched))?.groups?.['yaml']
  if (yaml === undefined || new TextEncoder().encode(yaml).length > maxBytes) {
    const reason = `must begin with YAML frontmatter of at most ${maxBytes} bytes between two lines "---"`
    throw frontmatterError(uri, reason)
  }
  const value = parseYaml(yaml, uri)
  if (!isFrontmatter(value)) {
    throw frontmatterError(uri, 'must have a `name` and a `description` in its frontmatter, both texts')
  }
  return value
}

/** True for the two members that every frontmatter has. */
export function isFrontmatter(value: JsonValue | undefined): value is SkillFrontmatter {
  return isJsonObject(value) && isFilledText(value['name']) && isFilledText(value['description'])
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function parseYaml(text: string, uri: string): JsonObject {
  let value: unknown
  try {
    value = parseYamlDocument(text)
  } catch (cause) {
    throw frontmatterError(uri, `has frontmatter that is not valid YAML: ${messageOf(cause)}`, cause)
  }
  const problem = findJsonProblem(value, { maxDepth })
  if (problem !== undefined) {
    throw frontmatterError(uri, `has a value in its frontmatter that JSON cannot represent: ${problem.path.join('.')}`)
  }
  if (!isJsonObject(value)) throw frontmatterError(uri, 'must have a mapping as its frontmatter')
  return value
}

// `uniqueKeys` of the parser compares each key with all keys before it.
function parseYamlDocument(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: false, logLevel: 'error' })
  const [error] = document.errors
  if (error !== undefined) throw error
  visit(document, { Map: (_, map) => rejectDuplicateKeys(map) })
  return document.toJS({ maxAliasCount: 0 })
}

function rejectDuplicateKeys({ items }: YAMLMap): void {
  const keys = new Set<string>()
  for (const { key } of items) {
    const name = isScalar(key) ? String(key.value ?? '') : undefined
    if (name === undefined) continue
    if (keys.has(name)) throw new Error(`the key ${quoteText(name)} occurs twice`)
    keys.add(name)
  }
}

function frontmatterError(uri: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('frontmatter', `${uri} ${reason}`, cause === undefined ? undefined : { cause })
}
