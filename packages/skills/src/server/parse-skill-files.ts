import { isJsonObject, type JsonValue } from '@x/core'
import { parseFrontmatter } from '../wire/frontmatter.ts'
import { type Skill, skillFileName, type SkillFrontmatter, skillLimits } from '../wire/skill.ts'
import { SkillError } from '../skill-error.ts'
import { mediaTypeOfFile } from './media-types.ts'
import type { SkillFile } from './skill-file.ts'

/** Served as a resource. */
export interface ServedFile {
  readonly path: string
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly bytes: Uint8Array
  /** Set if the bytes are UTF-8 without the character NUL. */
  readonly text: string | undefined
}

/** Its files have no digests yet. */
type ParsedSkill = Omit<Skill, 'resources'> & {
  /** All files in the directory of the skill, those of nested skills included. */
  readonly files: readonly ServedFile[]
}

export interface ParsedSkillFiles {
  readonly skills: readonly ParsedSkill[]
  /** By their URIs, in the order of these. */
  readonly files: ReadonlyMap<string, ServedFile>
}

/**
 * Finds the skills in a set of files, and checks them against the Agent Skills specification and the limits of the
 * extension.
 *
 * @throws SkillError that names the file and says what is right.
 */
export function parseSkillFiles(skillFiles: readonly SkillFile[]): ParsedSkillFiles {
  const files = skillFiles.map(toServedFile).toSorted((a, b) => (a.uri < b.uri ? -1 : 1))
  for (const [index, { path, uri }] of files.entries()) {
    if (files[index + 1]?.uri === uri) throw new SkillError('entry', `${path}: two files have this path`)
  }
  const skills = files.filter(({ name }) => name === skillFileName).map((file) => parseSkill(file, files))
  const filesOfSkills = new Set(skills.flatMap(({ files: ownFiles }) => ownFiles))
  const strayFile = files.find((file) => !filesOfSkills.has(file))
  if (strayFile !== undefined) {
    throw new SkillError(
      'entry',
      `${strayFile.path}: belongs to no skill, because no directory above it has a SKILL.md`,
    )
  }
  for (const file of files) checkEncodedLength(file)
  return { skills, files: new Map(files.map((file) => [file.uri, file])) }
}

function parseSkill(skillFile: ServedFile, allFiles: readonly ServedFile[]): ParsedSkill {
  const { path, uri, text } = skillFile
  const directory = path.slice(0, -skillFileName.length)
  if (directory === '') {
    throw new SkillError(
      'entry',
      'SKILL.md: is in no directory; a skill is a directory, such as triage/SKILL.md: give the folder that holds it',
    )
  }
  if (text === undefined) throw new SkillError('frontmatter', `${path} is not UTF-8 text`)
  const frontmatter = parseFrontmatter(text, path)
  checkFrontmatter(frontmatter, path)
  const files = allFiles.filter((file) => file.path.startsWith(directory))
  checkLimits(files, directory)
  return { uri, frontmatter, files }
}

/** Lowercase letters, digits and single hyphens between them (Agent Skills, name). */
const namePattern = /^[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)*$/u

/** In characters (Agent Skills, frontmatter). */
const maxLengths = { name: 64, description: 1024, compatibility: 500 }

function checkFrontmatter(frontmatter: SkillFrontmatter, path: string): void {
  const refuse = (reason: string): never => {
    throw new SkillError('frontmatter', `${path}: ${reason} (Agent Skills specification, frontmatter)`)
  }
  const { name, metadata } = frontmatter
  if (!namePattern.test(name)) refuse(`the name "${name}" may have lowercase letters, digits and single hyphens`)
  const directoryName = path.split('/').at(-2)
  if (name !== directoryName) refuse(`the name is "${name}", and must be that of its directory, "${directoryName}"`)
  for (const [member, maxLength] of Object.entries(maxLengths)) {
    const value = frontmatter[member]
    if (value === undefined) continue
    if (typeof value !== 'string') refuse(`${member} must be a text`)
    else if ([...value].length > maxLength) refuse(`${member} may have at most ${maxLength} characters`)
  }
  if (metadata !== undefined && !isTextMap(metadata)) refuse('metadata must be a mapping from texts to texts')
}

function isTextMap(value: JsonValue): boolean {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string')
}

function checkLimits(files: readonly ServedFile[], directory: string): void {
  const { maxFiles, maxBytes } = skillLimits
  if (files.length > maxFiles) {
    throw new SkillError('size', `${directory}: a skill may have ${maxFiles} files, and this one has ${files.length}`)
  }
  const byteCount = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (byteCount > maxBytes) {
    throw new SkillError('size', `${directory}: a skill may have ${maxBytes} bytes, and this one has ${byteCount}`)
  }
}

/** A client accepts a message of 16 MiB, and the message has other members beside the file. */
const maxEncodedLength = skillLimits.maxBytes - 65_536

/** JSON writes a control character as six bytes. */
const maxEscapedLength = 6

function checkEncodedLength({ path, text, bytes }: ServedFile): void {
  if (bytes.length * maxEscapedLength <= maxEncodedLength) return
  const [encodedLength, encoding] =
    text === undefined
      ? [Math.ceil(bytes.length / 3) * 4, 'Base64']
      : [new TextEncoder().encode(JSON.stringify(text)).length - '""'.length, 'JSON']
  if (encodedLength <= maxEncodedLength) return
  throw new SkillError(
    'size',
    `${path}: a file may have ${maxEncodedLength} bytes in ${encoding}, and this one has ${encodedLength}; divide it into several files`,
  )
}

function toServedFile({ path, content, mimeType }: SkillFile): ServedFile {
  const segments = path.split('/')
  const name = segments.at(-1) ?? ''
  if (segments.some((segment) => ['', '.', '..'].includes(segment) || /[\\\p{Cc}\p{Cs}]/u.test(segment))) {
    const advice = 'write a path below the folder, such as triage/SKILL.md'
    throw new SkillError('entry', `${JSON.stringify(path)}: is not a path of a file; ${advice}`)
  }
  // Copied, so that a later change by the program does not make the digest wrong.
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
  const text = decodeText(bytes)
  return {
    path,
    uri: skillUri(segments),
    name,
    mimeType: mimeType ?? mediaTypeOfFile(name, text !== undefined),
    bytes,
    text,
  }
}

/**
 * URI of a file or directory (extensions/skills, resource mapping). The first segment is the authority of the URI,
 * where characters are percent-encoded as in a path.
 */
export function skillUri(segments: readonly string[]): string {
  return `skill://${segments.map(encodeURIComponent).join('/')}`
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text's UTF-8 must be exactly these bytes, so that a client computes the same digest from it. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
