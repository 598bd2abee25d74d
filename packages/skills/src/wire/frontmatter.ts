import { findJsonProblem, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { parse } from 'yaml'
import { SkillError } from '../skill-error.ts'
import type { SkillFrontmatter } from './skill.ts'

/** The frontmatter of a Markdown file: the text between a first line `---` and the next line `---`. */
const frontmatterPattern = /^\uFEFF?---[ \t]*\r?\n(?<yaml>[\s\S]*?)^---[ \t]*$/m

/** The maximum number of arrays and objects inside each other in a frontmatter. */
const maxDepth = 32

/**
 * Parses the frontmatter of a `SKILL.md`. The values of YAML's core schema are those of JSON. An alias is an error,
 * because a few aliases of aliases make a value of any size.
 *
 * @throws SkillError `frontmatter` for a file without frontmatter, and for a frontmatter that is not a JSON object with
 *   a `name` and a `description`.
 */
export function parseFrontmatter(markdown: string, uri: string): SkillFrontmatter {
  const yaml = markdown.startsWith('---') || markdown.startsWith('\uFEFF') ? frontmatterPattern.exec(markdown) : null
  if (yaml?.index !== 0) throw frontmatterError(uri, 'must begin with YAML frontmatter between two lines "---"')
  const value = parseYaml(yaml.groups?.['yaml'] ?? '', uri)
  if (!isFrontmatter(value)) {
    throw frontmatterError(uri, 'must have a `name` and a `description` in its frontmatter, both texts')
  }
  return value
}

/** Returns true if a JSON value has the two members that every frontmatter has. */
export function isFrontmatter(value: JsonValue | undefined): value is SkillFrontmatter {
  return isJsonObject(value) && isFilledText(value['name']) && isFilledText(value['description'])
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function parseYaml(text: string, uri: string): JsonObject {
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: 0, prettyErrors: true, logLevel: 'error' })
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function frontmatterError(uri: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('frontmatter', `${uri} ${reason}`, cause === undefined ? undefined : { cause })
}
