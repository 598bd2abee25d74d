import type { JsonObject } from '@x/core'

/** The identifier of the Skills extension. */
export const skillsIdentifier = 'io.modelcontextprotocol/skills'

/** The methods of the extension. */
export const skillsMethods = {
  list: 'skills/list',
  get: 'skills/get',
  readDirectory: 'resources/directory/read',
} as const

/** The media type of a directory. */
export const directoryMediaType = 'inode/directory'

/** The name of the file that every skill has in its root directory. */
export const skillFileName = 'SKILL.md'

/**
 * The limits of one skill, which every host must accept (extensions/skills, limits). `maxBytes` counts the bytes of all
 * files of the skill.
 */
export const skillLimits = { maxFiles: 512, maxBytes: 16 * 1024 * 1024 } as const

/** One file of a skill, as the entry of the skill lists it (extensions/skills, skill entries). */
export type SkillResource = {
  readonly uri: string
  /** The SHA-256 hash of the file: `sha256:` and 64 lowercase hexadecimal digits. */
  readonly digest: string
  /** The size of the file in bytes. */
  readonly size: number
}

/** The YAML frontmatter of a `SKILL.md` as JSON, with every member that the author wrote. */
export type SkillFrontmatter = JsonObject & {
  readonly name: string
  /** A description of what the skill does and when to use it, for the model. */
  readonly description: string
}

/** The entry of a skill, as `skills/list` and `skills/get` return it (extensions/skills, skill entries). */
export type Skill = {
  /** The URI of the skill's `SKILL.md`. */
  readonly uri: string
  readonly frontmatter: SkillFrontmatter
  /**
   * All files of the skill, `SKILL.md` included. `dynamic` means that the server generates the files, so that they have
   * no digests.
   */
  readonly resources: readonly SkillResource[] | 'dynamic'
}
