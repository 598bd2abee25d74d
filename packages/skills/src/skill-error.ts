/** Codes of {@link SkillError}: why a skill cannot be served or used. */
export type SkillErrorCode =
  /** The entry of a skill, or a set of files to serve, breaks a rule of the extension. */
  | 'entry'
  /** The entry of the skill does not list the file. */
  | 'unlisted'
  /** A file has another size than its entry says, or a skill exceeds the limit on files or bytes. */
  | 'size'
  /** A file has another digest than its entry says. */
  | 'digest'
  /** The frontmatter of a `SKILL.md` is invalid, or differs from the entry of the skill. */
  | 'frontmatter'

/**
 * A skill cannot be served or used. A host must not show a file of it to a model after this error (extensions/skills,
 * verification on read).
 */
export class SkillError extends Error {
  override readonly name = 'SkillError'
  readonly code: SkillErrorCode

  constructor(code: SkillErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** True for a {@link SkillError}, also one of another copy of this package. */
export function isSkillError(error: unknown): error is SkillError {
  return error instanceof Error && error.name === 'SkillError' && 'code' in error
}
