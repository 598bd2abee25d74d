import type { JsonObject } from '@x/core'

export const skillsIdentifier = 'io.modelcontextprotocol/skills'

export const skillsMethods = {
  list: 'skills/list',
  get: 'skills/get',
  readDirectory: 'resources/directory/read',
} as const

export const directoryMediaType = 'inode/directory'

/** Every skill has this file in its root directory. */
export const skillFileName = 'SKILL.md'

/** Every host must accept a skill up to these (extensions/skills, limits). `maxBytes` counts all files of the skill. */
export const skillLimits = { maxFiles: 512, maxBytes: 16 * 1024 * 1024 } as const

/** One file of a skill, as its entry lists it (extensions/skills, skill entries). */
export type SkillResource = {
  readonly uri: string
  /** SHA-256 hash of the file: `sha256:` and 64 lowercase hexadecimal digits. */
  readonly digest: string
  /** Size of the file in bytes. */
  readonly size: number
}

/** YAML frontmatter of a `SKILL.md` as JSON, with every member that the author wrote. */
export type SkillFrontmatter = JsonObject & {
  readonly name: string
  /** What the skill does and when to use it, for the model. */
  readonly description: string
}

/** A skill's entry, as `skills/list` and `skills/get` return it (extensions/skills, skill entries). */
export type Skill = {
  /** URI of the skill's `SKILL.md`. */
  readonly uri: string
  readonly frontmatter: SkillFrontmatter
  /**
   * All files of the skill, `SKILL.md` included. `dynamic` means that the server generates them, so they have no
   * digests.
   */
  readonly resources: readonly SkillResource[] | 'dynamic'
}
