import { isJsonArray, isJsonObject, type JsonValue } from '@x/core'
import { isFrontmatter } from '../wire/frontmatter.ts'
import { type Skill, skillFileName, type SkillFrontmatter, skillLimits, type SkillResource } from '../wire/skill.ts'
import { SkillError } from '../skill-error.ts'

/**
 * Checks a skill's entry from a server (extensions/skills, skill entries).
 *
 * @throws SkillError `entry`, or `size` for a skill above the limits that every host accepts.
 */
export function checkEntry(value: JsonValue | undefined): Skill {
  const { uri, frontmatter, resources } = isJsonObject(value) ? value : {}
  if (typeof uri !== 'string') throw entryError('The entry of a skill', 'has no `uri`')
  if (!uri.endsWith(`/${skillFileName}`)) throw entryError(uri, `must be the URI of a ${skillFileName}`)
  if (!isFrontmatter(frontmatter)) throw entryError(uri, 'needs a `frontmatter` with a `name` and a `description`')
  checkDirectoryName(uri, frontmatter)
  if (resources === 'dynamic') return { uri, frontmatter, resources }
  if (!isJsonArray(resources)) throw entryError(uri, 'must have `resources`: an array, or "dynamic"')
  const skill = { uri, frontmatter, resources: checkResources(resources, uri) }
  checkEntryLimits(skill)
  return skill
}

function checkDirectoryName(uri: string, { name }: SkillFrontmatter): void {
  const directoryName = decodePathSegment(uri.split('/').at(-2) ?? '')
  if (directoryName !== name) throw entryError(uri, `must be in a directory with the name of the skill, "${name}"`)
}

function checkResources(resources: readonly JsonValue[], skillUri: string): readonly SkillResource[] {
  const directory = directoryOf(skillUri)
  const uris = new Set<string>()
  const checkedResources = resources.map((resource): SkillResource => {
    if (!isResource(resource)) throw entryError(skillUri, 'has a resource without a URI, a SHA-256 digest and a size')
    const { uri } = resource
    if (!uri.startsWith(directory)) throw entryError(skillUri, `lists ${uri}, which is outside of the skill`)
    if (uris.has(uri)) throw entryError(skillUri, `lists ${uri} twice`)
    uris.add(uri)
    return resource
  })
  if (!uris.has(skillUri)) throw entryError(skillUri, 'does not list its own SKILL.md')
  return checkedResources
}

function isResource(value: JsonValue): value is JsonValue & SkillResource {
  if (!isJsonObject(value)) return false
  const { uri, digest, size } = value
  return (
    typeof uri === 'string' &&
    typeof digest === 'string' &&
    /^sha256:[0-9a-f]{64}$/.test(digest) &&
    Number.isSafeInteger(size) &&
    Number(size) >= 0
  )
}

function checkEntryLimits({ uri, resources }: Skill & { readonly resources: readonly SkillResource[] }): void {
  const { maxFiles, maxBytes } = skillLimits
  const byteCount = resources.reduce((sum, { size }) => sum + size, 0)
  if (resources.length <= maxFiles && byteCount <= maxBytes) return
  const limits = `${maxFiles} files and ${maxBytes} bytes`
  throw new SkillError('size', `${uri}: has ${resources.length} files and ${byteCount} bytes; the limits are ${limits}`)
}

/** With the slash at its end. */
export function directoryOf(skillUri: string): string {
  return skillUri.slice(0, -skillFileName.length)
}

/** A segment that is not valid percent-encoding stays as it is. */
export function decodePathSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function entryError(uri: string, reason: string): SkillError {
  return new SkillError('entry', `${uri}: ${reason}`)
}
