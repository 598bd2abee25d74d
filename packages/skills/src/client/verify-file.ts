import { decodeBase64, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { digestOf } from '../wire/digest.ts'
import { parseFrontmatter } from '../wire/frontmatter.ts'
import type { Skill, SkillResource } from '../wire/skill.ts'
import { SkillError } from '../skill-error.ts'

/** A file whose size and digest are those of its skill's entry. */
export interface VerifiedFile {
  readonly uri: string
  readonly mimeType: string | undefined
  readonly bytes: Uint8Array
  /** Set if the server sent text. */
  readonly text: string | undefined
}

/**
 * Verifies a file against the entry of its skill. For the `SKILL.md` of the skill itself, compares the frontmatter, too
 * (extensions/skills, integrity and verification).
 *
 * @throws SkillError
 */
export async function verifyFile(
  result: JsonObject,
  { uri, digest, size }: SkillResource,
  skill: Skill,
): Promise<VerifiedFile> {
  const { text, bytes, mimeType } = readContents(result, uri)
  if (bytes.length !== size) {
    throw new SkillError('size', `${uri}: has ${bytes.length} bytes, and its entry says ${size}`)
  }
  const actualDigest = await digestOf(bytes)
  if (actualDigest !== digest) {
    throw new SkillError('digest', `${uri}: has the digest ${actualDigest}, and its entry says ${digest}`)
  }
  if (uri === skill.uri) compareFrontmatter(text ?? new TextDecoder().decode(bytes), skill)
  return { uri, mimeType, bytes, text }
}

function readContents(
  { contents }: JsonObject,
  uri: string,
): {
  readonly text: string | undefined
  readonly bytes: Uint8Array
  readonly mimeType: string | undefined
} {
  const content = isJsonArray(contents) && contents.length === 1 ? contents[0] : undefined
  if (!isJsonObject(content) || content['uri'] !== uri) {
    throw new SkillError('entry', `${uri}: the result of reading it must have one content with this URI`)
  }
  const { text, blob, mimeType } = content
  const type = typeof mimeType === 'string' ? mimeType : undefined
  if (typeof text === 'string') return { text, bytes: new TextEncoder().encode(text), mimeType: type }
  const bytes = typeof blob === 'string' ? decodeBase64(blob) : undefined
  if (bytes === undefined) throw new SkillError('entry', `${uri}: has neither text nor bytes in Base64`)
  return { text: undefined, bytes, mimeType: type }
}

function compareFrontmatter(markdown: string, { uri, frontmatter }: Skill): void {
  const actual = parseFrontmatter(markdown, uri)
  const members = new Set([...Object.keys(actual), ...Object.keys(frontmatter)])
  const differences = [...members].filter((member) => !isEqual(actual[member], frontmatter[member]))
  if (differences.length === 0) return
  throw new SkillError('frontmatter', `${uri}: its frontmatter differs from its entry in ${differences.join(', ')}`)
}

/** The order of the members of an object does not count. */
function isEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (isJsonArray(a) && isJsonArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
    )
  }
  return a === b
}
